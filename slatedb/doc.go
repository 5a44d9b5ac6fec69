// Package slatedb reads the metadata of SlateDB databases and mirrors their
// SSTs.
//
// There are only a few nouns:
//
//   - A [Manifest] is one version of a database's state. It references SSTs
//     through an [SSTView] each, holds [Checkpoint]s on earlier manifests, and
//     may borrow SSTs from an [ExternalDB].
//   - A [Compactions] object lists compaction jobs and what they have written.
//   - A [Name] is the path of an object, taken apart; a [Resolver] finds the
//     path of an SST.
//   - A [Policy] tells a mirror which objects of a database to keep local. It
//     routes by the [CallTag] in a call's options.
//
// Objects are decoded by [DecodeManifest] and [DecodeCompactions], which accept
// hostile bytes, from a schema of the fields that this package uses. The code in
// internal/fb is generated from it by the FlatBuffers compiler, version 2.0.8:
// go generate does it. A newer SlateDB's additional fields are ignored.
package slatedb
