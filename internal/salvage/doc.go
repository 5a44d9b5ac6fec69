// Package salvage finds out what a damaged database file still proves.
//
// Its nouns:
//
//   - [Found] is what was read: rows from every page that is whole, whatever led
//     to it, and the chunks that lie in the file, each proved by a checksum or a
//     digest of its own.
//   - A [Plan] is a database with no more than that: payloads whose chunks are
//     all there, and transactions that lead to the tree as it was. A
//     transaction whose record is lost is rebuilt from the rows that it wrote.
//   - The lost and found directory has what has lost its place: nodes whose
//     directory or latest state is not known, and payloads without a name.
//
// When the log of transactions is whole, the plan has the whole history as it was,
// whatever else is damaged. What is not known is left out and listed.
package salvage
