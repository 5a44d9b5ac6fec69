// Package accounts keeps who may use a server: users with passwords, tokens of
// programs, and the key that signs share links, all in one small file.
//
// There are four nouns. A [File] is that file, read again when it changes. A [User]
// has a name and a password, of which the file has an argon2id hash. A [Token] is a
// random secret, of which it has a SHA-256. A [Link] is signed and kept nowhere.
// Each leads to a [grant.Grant].
package accounts
