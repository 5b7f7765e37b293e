// What stands beside a screen and is fetched after it.

import "../app"; // so that the first view is one file of the bundle (CONTRIBUTING.md)

export { keepOnDevice } from "../device";
export { DemoBar } from "../part/demo";
export { SetupNote } from "../part/setupnote";
