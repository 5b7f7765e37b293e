import { useMemo } from "preact/hooks";
import { useAnswer } from "../answer";
import { Waiting } from "../part/page";
import { SetupPage, type SetupProps } from "../part/setup";
import { grow, type Topology, type TreeDevice } from "../part/tree";
import { su, suCode } from "../words/setup";

const across = 144, down = 56, box = 120, tall = 44; // of a device's cell, and of its box

/** What a device is called. */
const called = (d: { friendly_name: string; name: string }) => d.friendly_name || d.name || su("suDeviceUnnamed");

/** The devices as a tree from the gateway down, and as a table. */
export function Screen(props: SetupProps) {
  const answer = useAnswer<Topology>(props.installer ? null : `/api/v1/topologies?network_id=${props.home.id}&offline=true`, 30);
  const tree = useMemo(() => grow(answer.value), [answer.value]);
  const online = tree.filter((d) => d.online).length;
  return (
    <SetupPage {...props} title="suMap" truth={tree.length > 0 ? su("suMapTruth", { n: online, total: tree.length }) : ""}>
      {props.installer ? <p class="note">{su("suMember")}</p> : <Waiting answer={answer} />}
      {answer.value && tree.length === 0 && <p class="note"><strong>{su("suMapNone")}</strong> {su("suNoDevicesHelp")}</p>}
      {tree.length > 0 && <div class="su-map"><Drawing tree={tree} /><Table tree={tree} /></div>}
    </SetupPage>
  );
}

/** Layers stand beside one another, devices of a layer below one another: that fits a phone. */
function Drawing({ tree }: { tree: TreeDevice[] }) {
  const width = (Math.max(...tree.map((d) => d.layer)) + 1) * across, height = (Math.max(...tree.map((d) => d.row)) + 1) * down;
  const x = (d: TreeDevice) => d.layer * across + box / 2 + 2, y = (d: TreeDevice) => d.row * down + down / 2;
  return (
    <div class="su-drawing" tabIndex={0} role="group" aria-label={su("suMap")}>
      <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={su("suMapText", { n: tree.length })}>
        {tree.map((d) => d.by && <path key={d.id} class={d.online && d.by.online ? "su-edge" : "su-edge su-off"} d={`M${x(d.by) + box / 2} ${y(d.by)}L${x(d) - box / 2} ${y(d)}`} />)}
        {tree.map((d) => (
          <g key={d.id} class={d.online ? "su-node" : "su-node su-off"}>
            <rect x={x(d) - box / 2} y={y(d) - tall / 2} width={box} height={tall} rx="12" />
            <text x={x(d)} y={y(d) - 3}>{short(called(d))}</text>
            <text class="su-minor" x={x(d)} y={y(d) + 14}>{short(d.online ? d.location || suCode("suMapRole_", d.type) : su("suState_offline"))}</text>
          </g>
        ))}
      </svg>
    </div>
  );
}

const short = (text: string) => (text.length > 15 ? text.slice(0, 14) + "…" : text);

function Table({ tree }: { tree: TreeDevice[] }) {
  return (
    <section class="su-part">
      <h2>{su("suMapTable")}</h2>
      <table class="lines su-table">
        <thead><tr><th scope="col">{su("suMapDevice")}</th><th scope="col">{su("suMapBy")}</th></tr></thead>
        <tbody>
          {tree.map((d) => (
            <tr key={d.id}>
              <th scope="row">{called(d)} <small>{[suCode("suMapRole_", d.type), d.location, suCode("suState_", d.online ? "online" : "offline")].filter(Boolean).join(" · ")}</small></th>
              <td>{d.by ? called(d.by) : d.layer === 0 ? "–" : su("suMapNobody")} {d.link && <small>{[d.link.band && su("suMapBand", { n: d.link.band }), d.link.rssi !== 0 && d.link.rssi + "\u00a0dBm"].filter(Boolean).join(" · ")}</small>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
