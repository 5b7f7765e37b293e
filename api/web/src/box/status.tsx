import { useAnswer } from "../answer";
import { Link, origin, QR } from "../part/code";
import { counted } from "../part/when";
import { to } from "../route";
import { codeText, list, span, t } from "../text";
import { BoxPage } from "./frame";
import { Bar, bytes, Facts, number, row, when } from "./part";

interface Attention {
  code: string;
  figure: number | null;
  text: string;
}

interface State {
  version: string;
  now: number;
  since: number;
  ready: boolean;
  clock_unset: boolean;
  networks: number;
  away: { network_id: number; to: string; left: number }[]; // that go or have gone to another box
  devices: number;
  devices_online: number;
  disk: { used_bytes: number; free_bytes: number; min_free_bytes: number; day_bytes: number; days_fit: number | null };
  last_backup: { at: number; size: number } | null;
  unclean_stops: number;
  unreadable: number;
  samples_lost_s: number;
  recovery: { at: number; damage: string; backup_at: number | null; lost: string; aside: string } | null;
  reach: { page: string; names: string[]; without_names: string; this_box_alone: boolean };
  attention: Attention[];
}

/** Where the thing to do is done. */
const places: Record<string, string> = { no_backup: "backup", backup_old: "backup", recovered: "backup", mails_failed: "mails", certificate_ends: "secure", unreadable: "database" };

/** How the box is, and what it needs. */
export function Status() {
  const answer = useAnswer<State>(row("status"), 10);
  const s = answer.value;
  const truth = !s ? undefined : s.attention.length > 0 ? counted("bxNeeds", s.attention.length) : t("bxWell");
  return (
    <BoxPage title="box" truth={truth} answer={answer} under={s && t("bxUnder", { time: span(s.now - s.since), version: s.version })}>
      {s && (
        <>
          {s.attention.length > 0 && <ul class="bx-needs">{s.attention.map((a) => <Need key={a.code} of={a} state={s} />)}</ul>}
          {s.away.map((n) => <p key={n.network_id} class="note">{n.to ? t("bxMoved", { n: n.network_id, to: n.to, left: n.left }) : t("bxMoving", { n: n.network_id })}</p>)}
          <div class="bx-tiles">
            <Disk disk={s.disk} />
            <section class="card">
              <h2>{t("bxLastBackup")}</h2>
              <p class="bx-big">{s.last_backup ? t("bxAgo", { time: span(s.now - s.last_backup.at) }) : t("bxNone")}</p>
              <p><small>{s.last_backup && `${when(s.last_backup.at)} · ${bytes(s.last_backup.size)}`}</small></p>
              <p><a href={to("box", "backup")}>{t("bxBackup")}</a></p>
            </section>
            <section class="card">
              <h2>{t("suDevices")}</h2>
              <p class="bx-big">{t("bxOnline", { n: s.devices_online, total: s.devices })}</p>
              <p><small>{counted("bxHomes", s.networks)}</small></p>
              <p><a href={to("box", "devices")}>{t("suDevices")}</a></p>
            </section>
            <section class="card">
              <h2>{t("bxClock")}</h2>
              <p class="bx-big">{when(s.now)}</p>
              {s.clock_unset && <p class="bx-warn">{t("bxClockUnset")}</p>}
            </section>
          </div>
          <Address reach={s.reach} />
          <section class="bx-section">
            <h2>{t("bxSoFar")}</h2>
            <Facts
              of={[
                [t("bxStops"), number(s.unclean_stops)],
                [t("bxUnreadable"), number(s.unreadable)],
                [t("bxLost"), s.samples_lost_s > 0 ? span(s.samples_lost_s) : t("bxNone")],
              ]}
            />
          </section>
        </>
      )}
    </BoxPage>
  );
}

/** A figure of what needs attention, as it is said. */
function figure(a: Attention): string {
  if (a.code === "certificate_ends") return span(Math.max(1, a.figure ?? 0) * 86_400); // none: less than a day
  if (a.figure === null) return "";
  if (a.code === "samples_lost") return span(a.figure);
  if (a.code === "backup_old" || a.code === "disk_low") return span(a.figure * 86_400);
  return number(a.figure);
}

/** What needs attention, and what to do. */
function Need({ of, state }: { of: Attention; state: State }) {
  const back = of.code === "recovered" && state.recovery;
  const place = places[of.code];
  const more = codeText("bxDo_", of.code);
  return (
    <li>
      <span class="bx-sign" aria-hidden="true" />
      <div>
        <p><strong>{codeText("bxNeed_", of.code, { n: figure(of) }) || of.code}</strong></p>
        {more && <p>{more}</p>}
        {of.text && <p><small>{of.text}</small></p>}
        {back && <p><small>{[when(back.at), back.damage, back.backup_at && t("bxFromBackup", { time: when(back.backup_at) }), back.lost, back.aside].filter(Boolean).join(" · ")}</small></p>}
        {place && <p><a href={to("box", place)}>{t(place === "backup" ? "bxBackup" : place === "mails" ? "bxMails" : place === "secure" ? "bxSecure" : "bxDatabase")}</a></p>}
      </div>
    </li>
  );
}

function Disk({ disk: d }: { disk: State["disk"] }) {
  const whole = Math.max(1, d.used_bytes + d.free_bytes);
  const kept = Math.min(d.min_free_bytes, d.free_bytes);
  return (
    <section class="card">
      <h2>{t("bxDisk")}</h2>
      <p class="bx-big">{d.days_fit === null ? t("bxFree", { size: bytes(d.free_bytes) }) : counted("bxDaysFit", d.days_fit)}</p>
      <Bar parts={[d.used_bytes / whole, (d.free_bytes - kept) / whole, kept / whole]} />
      <p><small>{t("bxDiskText", { used: bytes(d.used_bytes), free: bytes(d.free_bytes), kept: bytes(d.min_free_bytes), day: bytes(d.day_bytes) })}</small></p>
    </section>
  );
}

/** Where the box is found, for another phone too. */
function Address({ reach }: { reach: State["reach"] }) {
  if (reach.this_box_alone || reach.page === "") return <section class="card bx-section"><h2>{t("suAddress")}</h2><p>{t("bxAlone")}</p></section>;
  const page = origin(new URL(reach.page).origin) + "/";
  return (
    <section class="card handed">
      <QR text={page} label={t("qrLabel")} />
      <div>
        <h2>{t("suAddress")}</h2>
        <p>{t("bxAddressText")}</p>
        <Link link={page} label={t("suAddress")} />
        <p><small>{reach.names.length > 0 ? t("bxNames", { names: list(reach.names) }) : reach.without_names && t("bxNameless", { why: reach.without_names })}</small></p>
      </div>
    </section>
  );
}
