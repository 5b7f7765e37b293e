// The devices of a home as a tree whose places stay the same: they follow from the devices' ids.

export interface TopologyDevice {
  id: number;
  name: string;
  friendly_name: string;
  location: string;
  type: "MESH_ROOT" | "MESH_NODE" | "LEAF" | "CLIENT";
  online: boolean;
}

export interface TopologyLink {
  dst: number;
  src: number;
  type: "LEAF" | "MESH";
  band: string; // GHz, "" when it is not known
  rssi: number; // dBm, 0 when it is not known
  online: boolean;
}

export interface Topology {
  devices: TopologyDevice[];
  links: TopologyLink[];
}

export interface TreeDevice extends TopologyDevice {
  by?: TreeDevice; // what it is connected to
  link?: TopologyLink;
  layer: number; // 0: the gateway
  row: number; // halves are possible
}

const roles = ["MESH_ROOT", "MESH_NODE", "LEAF", "CLIENT"];

/** Orders devices by what they are and then by id, which a device keeps. */
const inOrder = (a: TopologyDevice, b: TopologyDevice) => roles.indexOf(a.type) - roles.indexOf(b.type) || a.id - b.id;

/** The devices from the gateway down, each below what it is connected to; without a known way they stand beside. */
export function grow(topology: Topology | undefined): TreeDevice[] {
  const devices: TreeDevice[] = [...(topology?.devices ?? [])].sort(inOrder).map((d) => ({ ...d, layer: 0, row: 0 }));
  const placed = new Map<number, TreeDevice>();
  const below = new Map<TreeDevice, TreeDevice[]>();
  const roots = devices.filter((d) => d.type === "MESH_ROOT");
  let layer = roots;
  for (const d of layer) placed.set(d.id, d);
  while (layer.length > 0) {
    const next: TreeDevice[] = [];
    for (const parent of layer) {
      for (const d of devices) {
        if (placed.has(d.id)) continue;
        const link = best(topology!.links, d, parent);
        if (!link) continue;
        Object.assign(d, { by: parent, link, layer: parent.layer + 1 });
        placed.set(d.id, d);
        below.set(parent, [...(below.get(parent) ?? []), d]);
        if (d.type === "MESH_NODE") next.push(d);
      }
    }
    layer = next;
  }
  const stray = devices.filter((d) => !placed.has(d.id));
  for (const d of stray) d.layer = roles.indexOf(d.type) === 0 ? 0 : 1;
  let row = 0;
  const settle = (d: TreeDevice) => {
    const children = below.get(d) ?? [];
    if (children.length === 0) return void (d.row = row++);
    children.forEach(settle);
    d.row = (children[0].row + children[children.length - 1].row) / 2;
  };
  [...roots, ...stray].forEach(settle);
  return [...placed.values(), ...stray].sort((a, b) => a.layer - b.layer || a.row - b.row);
}

/** The link of a device to a parent, where it is its best one: online, then strongest, to a parent that is known. */
function best(links: TopologyLink[], d: TopologyDevice, parent: TopologyDevice): TopologyLink | undefined {
  const touch = (l: TopologyLink) => l.src === d.id || (d.type === "MESH_NODE" && l.dst === d.id);
  const own = links.filter(touch).sort((a, b) => Number(b.online) - Number(a.online) || (b.rssi || -999) - (a.rssi || -999));
  if (d.type === "MESH_NODE") return own.find((l) => l.src === parent.id || l.dst === parent.id);
  return own[0] && own[0].dst === parent.id ? own[0] : undefined;
}
