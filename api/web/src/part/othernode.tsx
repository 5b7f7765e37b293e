// What arrives of a node of another maker, which tells nothing of itself and needs no password.

import type { ComponentChildren } from "preact";
import { language } from "../text";
import { su, suCode, suCounted } from "../words/setup";
import { figure } from "./setup";

/** A node of another maker, as the appliance tells of it. null: kept from who looks. */
export interface OtherNode {
  kind: string;
  authenticated: boolean;
  rate: number | null; // frames/s that arrive
  used: number | null; // of them, those that motion is sensed from
  lengths: { bytes: number; share: number }[] | null;
  transmitters: { mac: string; share: number; used: boolean }[] | null;
  advice: string[]; // codes, the most important first
}

const percent = (share: number) => new Intl.NumberFormat(language.value, { style: "percent" }).format(share);

/** How much arrives, in a line; "" for nothing. */
function line({ rate, lengths, transmitters, advice }: OtherNode): string {
  if (advice[0] === "nothing_arrives" || rate === 0) return "";
  if (rate === null) return su("suNodeArrives");
  const said = { rate: figure(rate) };
  if (transmitters?.length) return suCounted("suNodeFrom", transmitters.length, said);
  return su(lengths?.length ? "suNodeRate" : "suNodeMessages", said);
}

/** How much arrives of a node, its children, what to do about its most important advice other than why, and the details, folded. */
export function Arrives({ node, name, why, known = [], children }: { node: OtherNode; name: string; why: string; known?: { device_id: string; name: string }[]; children?: ComponentChildren }) {
  const said = line(node);
  const advice = node.advice.find((code) => code !== why);
  return (
    <div class="su-node-told">
      {said && <p>{said}</p>}
      {children}
      {advice && <p class="su-why">{suCode("rd_", advice) || advice} {suCode("rd_", advice + "_do")}</p>}
      {!node.authenticated && <p class="su-why">{su("suNodeOpen")}</p>}
      {said && node.lengths !== null && node.lengths.length > 0 && (
        <details>
          <summary>{su("suNodeMore")}<span class="hidden"> {name}</span></summary>
          <dl class="su-figures">
            <div><dt>{su("suNodeUsed")}</dt><dd>{su("suRate", { n: figure(node.used ?? 0) })}</dd></div>
            {node.lengths.map((l) => <div key={l.bytes}><dt>{su("suNodeLength", { n: l.bytes })}</dt><dd>{percent(l.share)}</dd></div>)}
            {node.transmitters?.map((s) => (
              <div key={s.mac}><dt>{known.find((d) => d.device_id === s.mac && d.name !== s.mac)?.name} {s.mac}</dt><dd>{percent(s.share)}, {su(s.used ? "suNodeSenderUsed" : "suNodeSenderUnused")}</dd></div>
            ))}
          </dl>
        </details>
      )}
    </div>
  );
}
