// Package lint holds the project's own rules, which its tests enforce.
package lint
