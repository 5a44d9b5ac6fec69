// Package azuretest runs Azurite, Microsoft's emulator of Azure Blob Storage, as
// a real process for tests. It needs Node.js and what `make deps` installs.
package azuretest
