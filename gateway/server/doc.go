// Package server puts a database behind one address: the interface of gateway/api,
// the web page, WebDAV and S3, for those whom gateway/accounts lets in.
//
// There are three nouns. A [Site] is one database with its protocols, an
// http.Handler that authenticates and bounds every request. A [Server] has one
// or several sites, pages for operators (/healthz, /readyz, /metrics) and a
// log. A door in front of all counts connections and stops what stalls.
package server
