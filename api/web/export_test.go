package web

// What the tests see of the reference that the product does not.
const ReferencePolicy = referencePolicy

var ReferenceFiles = referenceFiles
