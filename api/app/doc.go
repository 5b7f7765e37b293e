// Package app is the App Cloud interface: one route table in the order of
// api/testdata/routes.tsv and one file for each group of operations. A handler decodes,
// calls the product once, and returns; no rule of the product lives here.
package app
