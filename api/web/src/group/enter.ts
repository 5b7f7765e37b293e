// Signing in, and what links in mails are for.

import "../app"; // what the first view has, so that this is one file of the bundle (ARCHITECTURE.md)
export { SignIn } from "../screen/signin";
export { Screen as errand } from "../screen/errand";
