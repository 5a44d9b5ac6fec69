package checksum

import (
	"slices"
)

// The polynomials of the CRCs whose values for the parts of an object make that of
// the whole, in the bit order that the CRCs have.
const (
	polynomialCRC32     = 0xedb88320
	polynomialCRC32C    = 0x82f63b78
	polynomialCRC64NVME = 0x9a6c9329ac4bc9b5
)

// combineCRC returns the CRC of two pieces of data, one after the other, of which
// the second has n bytes. All these CRCs begin and end with their bits inverted,
// so that the CRC of the first is carried over n zero bytes and the other added.
func combineCRC(polynomial, first, second uint64, n int64) uint64 {
	step := crcStep{polynomial} // over one zero bit
	for i := 1; i < len(step); i++ {
		step[i] = 1 << (i - 1)
	}
	for range 3 {
		step = step.twice() // over one byte
	}
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			first = step.apply(first)
		}
		step = step.twice()
	}
	return first ^ second
}

// crcStep is what a number of zero bits does to a CRC: by bit, what becomes of it.
type crcStep [64]uint64

func (s *crcStep) apply(crc uint64) (result uint64) {
	for i := 0; crc != 0; i, crc = i+1, crc>>1 {
		if crc&1 != 0 {
			result ^= s[i]
		}
	}
	return result
}

func (s *crcStep) twice() (twice crcStep) {
	for i, v := range s {
		twice[i] = s.apply(v)
	}
	return twice
}

// Combine returns the checksum of a whole object from those of its parts, or false
// for a checksum that cannot be combined.
func (a Algorithm) Combine(sums [][]byte, sizes []int64) ([]byte, bool) {
	var polynomial uint64
	switch a {
	case CRC32:
		polynomial = polynomialCRC32
	case CRC32C:
		polynomial = polynomialCRC32C
	case CRC64NVME:
		polynomial = polynomialCRC64NVME
	default:
		return nil, false
	}
	var whole uint64
	for i, sum := range sums {
		whole = combineCRC(polynomial, whole, bigEndian(sum), sizes[i])
	}
	sum := make([]byte, a.New().Size())
	for i := range slices.Backward(sum) {
		sum[i], whole = byte(whole), whole>>8
	}
	return sum, true
}

func bigEndian(b []byte) (n uint64) {
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}
