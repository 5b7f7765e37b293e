// The devices of a home as a tree whose places stay the same: they follow from what
// the devices are and from their ids, and not from how strong a link is at the moment.

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
  const placed = new Set<number>();
  let layer = devices.filter((d) => d.type === "MESH_ROOT");
  for (const d of layer) placed.add(d.id);
  while (layer.length > 0) {
    const next: TreeDevice[] = [];
    for (const parent of layer) {
      for (const d of devices) {
        const link = placed.has(d.id) ? undefined : best(topology!.links, d, parent);
        if (!link) continue;
        Object.assign(d, { by: parent, link, layer: parent.layer + 1 });
        placed.add(d.id);
        if (d.type === "MESH_NODE") next.push(d);
      }
    }
    layer = next;
  }
  settle(devices, placed);
  return devices.sort((a, b) => a.layer - b.layer || a.row - b.row);
}

/** Gives devices their places: the clients in the last layer, each layer in order, over the same height. */
function settle(devices: TreeDevice[], placed: Set<number>) {
  const node = (d: TreeDevice) => d.type === "MESH_ROOT" || d.type === "MESH_NODE";
  for (const d of devices) if (!placed.has(d.id) && d.type !== "MESH_ROOT") d.layer = 1;
  const last = 1 + Math.max(0, ...devices.filter(node).map((d) => d.layer));
  for (const d of devices) if (!node(d)) d.layer = last;
  const layers = Array.from({ length: last + 1 }, (_, i) => devices.filter((d) => d.layer === i));
  const rows = Math.max(...layers.map((l) => l.length));
  for (const l of layers) l.forEach((d, i) => (d.row = ((i + 0.5) * rows) / l.length - 0.5));
}

/** The link of a device to a parent, where it is its best one: online, then strongest, to a parent that is known. */
function best(links: TopologyLink[], d: TopologyDevice, parent: TopologyDevice): TopologyLink | undefined {
  const touch = (l: TopologyLink) => l.src === d.id || (d.type === "MESH_NODE" && l.dst === d.id);
  const own = links.filter(touch).sort((a, b) => Number(b.online) - Number(a.online) || (b.rssi || -999) - (a.rssi || -999));
  if (d.type === "MESH_NODE") return own.find((l) => l.src === parent.id || l.dst === parent.id);
  return own[0] && own[0].dst === parent.id ? own[0] : undefined;
}
