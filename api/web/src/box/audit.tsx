import { isoDay, longDay } from "../part/when";
import { clock, codeText, t } from "../text";
import { BoxPage } from "./frame";
import { useLines, zone } from "./part";

interface Line {
  id: number;
  at: number;
  action: string;
  about: string;
  who: { kind: string; user_id: number | null; name: string };
  from: string;
  details: Record<string, string> | null;
}

/** Who changed what on the box, from where, by day. */
export function Audit() {
  const { answer, lines, button } = useLines<Line>("audit?limit=50");
  const days = new Map<string, Line[]>();
  for (const line of lines) {
    const day = isoDay(line.at, zone());
    days.set(day, [...(days.get(day) ?? []), line]);
  }
  return (
    <BoxPage title="bxAudit" truth={answer.value && lines.length === 0 ? t("bxAuditNone") : t("bxAuditTruth")} answer={answer} under={t("bxAuditText")}>
      {[...days].map(([day, list]) => (
        <section key={day} class="day">
          <h2>{longDay(list[0].at, zone())}</h2>
          <ul>{list.map((l) => <Entry key={l.id} of={l} />)}</ul>
        </section>
      ))}
      {button}
    </BoxPage>
  );
}

function Entry({ of: l }: { of: Line }) {
  const details = Object.entries(l.details ?? {}).map(([key, value]) => `${key}: ${value}`);
  return (
    <li class="bx-line">
      <time>{clock(l.at, zone())}</time>
      <div>
        <p>{codeText("bxDid_", l.action) || <code>{l.action}</code>} {l.about && <strong>{l.about}</strong>}</p>
        <p class="due">{[codeText("bxBy_", l.who.kind, { name: l.who.name }) || l.who.name, l.from, ...details].filter(Boolean).join(" · ")}</p>
      </div>
    </li>
  );
}
