// Package dust reads and writes documents in two formats, DUST and JSON.
//
// There are only a few nouns:
//
//   - A [Value] is a value with everything beneath it, of one [Kind].
//   - A [Member] is a name and a value in an object.
//   - A [Format] is DUST or JSON; [Parse] reads both, the Append functions
//     write them.
//   - A [SyntaxError] says where a text is wrong and what was expected there.
//
// Both formats hold the same values, so each converts to the other without
// loss: members keep their order and numbers keep their digits. JSON is RFC
// 8259, read strictly. DUST is a relaxed JSON that people write by hand; every
// JSON text is a DUST text of the same value.
//
// # Grammar of DUST
//
// In EBNF, over the Unicode characters of a text that is valid UTF-8:
//
//	text      = ws , [ value | bare object ] , ws ;
//	value     = object | array | string | word ;
//	object    = "{" , [ members ] , ws , "}" ;
//	array     = "[" , [ items ] , ws , "]" ;
//	bare object = members ;
//	members   = member , { separator , member } , [ ws , "," ] ;
//	member    = ws , key , ( ws , ":" , ws | separate ) , value ;
//	items     = ws , value , { separator , value } , [ ws , "," ] ;
//	key       = string | word ;
//	separator = ws , "," , ws | separate ;
//	separate  = space , ws | ? nothing, beside a brace or bracket ? ;
//	ws        = { space } ;
//	space     = " " | tab | line feed | carriage return ;
//	string    = ? a string as in RFC 8259, section 7 ? ;
//	word      = word character , { word character } ;
//	word character = ? a letter, mark or number of Unicode (categories L, M, N) ?
//	          | "_" | "-" | "+" | "." | "/" | "#" | "$" | "@" | "%" | "&" | "*"
//	          | "=" | "~" | "!" | "?" ;
//
// What the grammar leaves open:
//
//   - A word in the place of a key is the key, whatever it looks like.
//   - A word in the place of a value is true, false, null or a number if it is
//     one in JSON, letter for letter; otherwise it is a string. So 10 is a
//     number, and 10.0.0.1, 01, +1, .5, 2024-12-01 and 95e84d are strings. A
//     string that looks like a number needs quotes: the digest of only decimal
//     digits, the digest 12e34..., the name 2024.
//   - A text that begins with "{" or "[" is that one value. A text that is one
//     string or word is that value. Any longer text is an object without its
//     braces, and so is an empty text.
//   - Commas are optional between two items and after the last one. There is
//     at most one in each place, and none between a key and its value.
//
// # Errors and limits
//
// In both formats two members of one name in an object, more than [MaxDepth]
// arrays and objects within each other, invalid UTF-8, a lone half of a
// surrogate pair (\ud800), a control character in a string, and anything after
// the value are errors. All of them are a [SyntaxError].
//
// Reading takes time and memory in proportion to the text and does not recurse.
package dust

// MaxDepth is how many arrays and objects may be within each other, the
// outermost included.
const MaxDepth = 128

// Format is one of the two formats.
type Format int

// The formats.
const (
	DUST Format = iota
	JSON
)
