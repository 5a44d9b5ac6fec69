// Package checksum holds the additional checksums of S3.
//
//   - An [Algorithm] computes one, such as CRC32; some [Algorithm.Combine] those of
//     an object's parts.
//   - [Declared] is the checksum that a request promises for its body, in a header or
//     in a trailer.
//
// The package knows no store and no signatures.
package checksum
