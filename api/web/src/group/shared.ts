// What several groups have: each imports all of it, so that it is one file of the bundle (CONTRIBUTING.md).

import "../app";

import "../part/code";
import "../part/form";
import "../part/othernode";
import "../part/plot";
import "../part/ring";
import "../part/save";
import "../part/setup";
import "../part/setuphandover";
