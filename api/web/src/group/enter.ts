// Signing in, and what links in mails are for.

import "../app"; // so that the first view is one file of the bundle (CONTRIBUTING.md)

export { SignIn } from "../screen/signin";
export { Screen as errand } from "../screen/errand";
