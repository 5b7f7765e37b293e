import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useAnswer } from "../answer";
import { call } from "../api";
import { eventText } from "../part/event";
import { Page, Waiting } from "../part/page";
import { counted, isoDay, longDay } from "../part/when";
import { to } from "../route";
import { now, refresh, type Overview } from "../state";
import { clock, codeText, refusal, t } from "../text";

interface Notice {
  id: string;
  ts: number;
  kind: string;
  values: Record<string, string>;
  alert: string;
  trial: boolean;
  own: boolean;
  unread: boolean;
}

interface Notices {
  notices: Notice[];
  unread: number;
  more: boolean;
}

const fresh = 10; // s

/** What concerned the home and the one who looks, by day. */
export function Screen({ o }: { o: Overview }) {
  const path = `/web/v1/notices?network_id=${o.home.id}`;
  const answer = useAnswer<Notices>(path, fresh);
  const older = useSignal<Notice[]>([]);
  const ended = useSignal(false);
  const busy = useSignal(false);
  const wrong = useSignal("");
  const got = answer.value;
  useEffect(() => {
    if (got && got.unread !== o.unread) void refresh();
  }, [got]);
  const zone = o.home.timezone;
  const attempt = async (what: () => Promise<void>) => {
    busy.value = true;
    wrong.value = "";
    try {
      await what();
    } catch (e) {
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  const markAll = () =>
    attempt(async () => {
      await call("PATCH", path, { read_to: got!.notices[0].ts });
      older.value = older.value.map((n) => ({ ...n, unread: false }));
      await Promise.all([answer.again(), refresh()]);
    });
  const end = got?.notices.at(-1)?.ts ?? 0;
  const list = got ? [...got.notices, ...older.value.filter((n) => n.ts < end)] : [];
  const more = () =>
    attempt(async () => {
      const next = await call<Notices>("GET", `${path}&before=${list[list.length - 1].ts}`);
      older.value = [...older.value, ...next.notices];
      ended.value = !next.more;
    });
  const days = new Map<string, Notice[]>();
  for (const n of list) {
    const day = isoDay(n.ts, zone);
    days.set(day, [...(days.get(day) ?? []), n]);
  }
  return (
    <Page title={t("inbox")} kind="inbox">
      <Waiting answer={answer} />
      {got && got.notices.length > 0 && (
        <div class="cardhead">
          <p role="status">{got.unread > 0 ? counted("ibUnread", got.unread) : t("ibAllRead")}</p>
          {got.unread > 0 && <button class="main" disabled={busy} onClick={markAll}>{t("ibMarkAll")}</button>}
        </div>
      )}
      {got && got.notices.length === 0 && (
        <section class="note teach">
          <svg viewBox="0 0 64 64" width="64" height="64" aria-hidden="true"><path d="M8 36l8-22h32l8 22v14H8zM8 36h14l4 7h12l4-7h14" /></svg>
          <p><strong>{t("ibEmpty")}</strong></p>
          <p>{t("ibEmptyHelp")}</p>
          <p><a class="button" href={to("alerts")}>{t("ibEmptyDo")}</a></p>
        </section>
      )}
      {[...days].map(([day, notices]) => (
        <section key={day} class="day">
          <h2>{dayName(day, notices[0].ts, zone)}</h2>
          <ul>{notices.map((n) => <Entry key={n.id || n.alert + n.ts} n={n} zone={zone} day={day} />)}</ul>
        </section>
      ))}
      <p class="wrong" role="alert">{wrong}</p>
      {got && list.length > 0 && (older.value.length > 0 ? !ended.value : got.more) && <p><button disabled={busy} onClick={more}>{t("ibOlder")}</button></p>}
    </Page>
  );
}

const aDay = 86_400;

function dayName(day: string, at: number, zone: string): string {
  if (day === isoDay(now.value, zone)) return t("ibToday");
  if (day === isoDay(now.value - aDay, zone)) return t("ibYesterday");
  return longDay(at, zone);
}

/** Where a notice leads, and what stands there. */
function whither(n: Notice, day: string): { href: string; text: string } {
  if (n.alert) return { href: to("alerts", "show", n.alert), text: t("ibWhereAlert") };
  if (/^(Member|Owner)/.test(n.kind)) return { href: to("people"), text: t("ibWherePeople") };
  return { href: to("history", day), text: t("ibWhereDay") };
}

function Entry({ n, zone, day }: { n: Notice; zone: string; day: string }) {
  const what = eventText(n.kind, n.values);
  const where = whither(n, day);
  const verdict = n.values.verdict ?? "";
  return (
    <li class={n.unread ? "notice unread" : "notice"}>
      <span class="dot" aria-hidden="true" />
      <div>
        <p>
          <strong>{n.kind === "MotionDetectedEvent" ? t("ibAway", { what }) : what}</strong>{" "}
          {n.unread && <span class="tag">{t("ibNew")}</span>} {n.trial && <span class="tag">{t("ibTrial")}</span>}
        </p>
        <p class="due">{[clock(n.ts, zone), verdict && codeText("ibWhy", verdict[0].toUpperCase() + verdict.slice(1))].filter(Boolean).join(" · ")}</p>
      </div>
      <a href={where.href}>{where.text}</a>
    </li>
  );
}
