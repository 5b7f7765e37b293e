// What stands beside a screen and is fetched after it.

import "../app"; // what the first view has, so that this is one file of the bundle (ARCHITECTURE.md)
export { DemoBar } from "../part/demo";
export { SetupNote } from "../part/setupnote";
