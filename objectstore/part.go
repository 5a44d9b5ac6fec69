package objectstore

import "fmt"

// MaxParts is the greatest part number of a multipart upload, S3's limit.
const MaxParts = 10000

// CheckPartNumber returns ErrInvalidOption unless number is from 1 to [MaxParts].
func CheckPartNumber(number int) error {
	if number < 1 || number > MaxParts {
		return fmt.Errorf("%w: part number %d is not from 1 to %d", ErrInvalidOption, number, MaxParts)
	}
	return nil
}

// CheckParts checks the parts that a completion names, as every
// [MultipartStore] must: there is at least one, their numbers ascend, each is
// as it was uploaded, and all but the last have at least minSize bytes. It
// returns ErrInvalidPart otherwise.
//
// uploaded returns what is known of a part, or false for one that was not uploaded;
// its errors are returned as they are. A nil uploaded leaves the comparison to the
// service behind the store.
func CheckParts(parts []Part, minSize int64, uploaded func(number int) (Part, bool, error)) error {
	if len(parts) == 0 {
		return fmt.Errorf("%w: no parts", ErrInvalidPart)
	}
	for i, part := range parts {
		if i > 0 && part.Number <= parts[i-1].Number {
			return fmt.Errorf("%w: number %d after %d", ErrInvalidPart, part.Number, parts[i-1].Number)
		}
		if uploaded == nil {
			continue
		}
		known, ok, err := uploaded(part.Number)
		switch {
		case err != nil:
			return err
		case !ok:
			return fmt.Errorf("%w: number %d was not uploaded", ErrInvalidPart, part.Number)
		case known.ETag != part.ETag:
			return fmt.Errorf("%w: number %d has ETag %q, not %q", ErrInvalidPart, part.Number, known.ETag, part.ETag)
		case i < len(parts)-1 && known.Size < minSize:
			return fmt.Errorf("%w: number %d has %d bytes, fewer than %d", ErrInvalidPart, part.Number, known.Size, minSize)
		}
	}
	return nil
}
