import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { useAnswer, type Answer } from "../answer";
import { call } from "../api";
import { Page, Waiting } from "../part/page";
import { awaits, daysText, drafted, draftText, lasts, presets, weekdayName, weekdays, whomText, written, type Draft, type Rule } from "../part/rule";
import { counted, dayTime, isoDay, shortDay, weekdayTime } from "../part/when";
import { go, place, to } from "../route";
import { now, type Overview } from "../state";
import { clock, refusal, span, t } from "../text";

interface HomeAlert {
  alert: Rule;
  snoozed_until: number | null;
  last?: { at: number; verdict: string };
  runs: { start: number; end: number }[];
}

interface Alerts {
  timezone: string;
  people: { id: number; name: string }[];
  alerts: HomeAlert[];
  unauthenticated: boolean;
}

/** The alerts of the home: a list, and a form for one of them. */
export function Screen({ o }: { o: Overview }) {
  const answer = useAnswer<Alerts>(`/web/v1/alerts?network_id=${o.home.id}`, 60);
  const [part, which] = place.value.rest;
  if (part === "new") return <Form key={"new" + which} o={o} answer={answer} preset={which ?? "own"} />;
  if (part === "edit" && which) return <Form key={which} o={o} answer={answer} uuid={which} />;
  return <List o={o} answer={answer} shown={part === "show" ? which : ""} />;
}

function List({ o, answer, shown }: { o: Overview; answer: Answer<Alerts>; shown: string }) {
  const got = answer.value;
  return (
    <Page title={t("alerts")} kind="alerts">
      <Waiting answer={answer} />
      {got && got.alerts.length === 0 && (
        <section class="note teach">
          <svg viewBox="0 0 64 64" width="64" height="64" aria-hidden="true"><path d="M14 46h36l-5-8V28a13 13 0 0 0-26 0v10zM27 52a5 5 0 0 0 10 0M32 8v5" /></svg>
          <p><strong>{t("alNone")}</strong></p>
          <p>{t("alNoneHelp")}</p>
        </section>
      )}
      {got && got.alerts.length > 0 && (
        <ul class="cards">
          {got.alerts.map((a) => <Card key={a.alert.uuid} o={o} a={a} got={got} shown={shown === a.alert.uuid} changed={answer.again} />)}
        </ul>
      )}
      {got && <Presets got={got} />}
      <p><a href={to("inbox")}>{t("alToInbox")}</a></p>
    </Page>
  );
}

/** What to begin with; a preset that is there already is not offered again. */
function Presets({ got }: { got: Alerts }) {
  const { own, ...rest } = presets();
  const left = Object.entries(rest).filter(([, p]) => !got.alerts.some((a) => a.alert.alert_name === p.draft.name));
  return (
    <section class="presets">
      <h2>{left.length > 0 ? t("alPresets") : t("alNew")}</h2>
      <ul>
        {left.map(([key, p]) => (
          <li key={key}><a href={to("alerts", "new", key)}><strong>{p.draft.name}</strong> <span>{p.help}</span></a></li>
        ))}
        <li><a href={to("alerts", "new", "own")}><strong>{t("alOwn")}</strong></a></li>
      </ul>
    </section>
  );
}

/** What a rule of another client does, as far as it can be said. */
function foreignText({ monitor: m }: Rule): string {
  return t(`alForeign${m.monitor_mode}`, { time: span(m.duration_minutes * 60), quiet: span(m.inactive_minutes * 60) });
}

/** When an alert is next due, or why it is not. */
function dueText(a: HomeAlert, zone: string): string {
  if (a.snoozed_until !== null && a.snoozed_until > now.value) return t("alAsleep", { time: dayTime(a.snoozed_until, zone) });
  if (!a.alert.enabled) return "";
  const run = a.runs[0];
  if (!run) return t("alOver");
  if (run.start <= now.value && run.start < run.end) return t("alNextNow", { time: weekdayTime(run.end, zone) });
  return t("alNext", { time: dayTime(a.alert.motion_actions.length > 0 ? run.start : run.end, zone) });
}

const hour = 3600;
const naps = [hour, 8 * hour, 24 * hour, 7 * 24 * hour];

function Card({ o, a, got, shown, changed }: { o: Overview; a: HomeAlert; got: Alerts; shown: boolean; changed: () => Promise<void> }) {
  const card = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (shown) card.current?.scrollIntoView({ block: "center" });
  }, [shown]);
  const wrong = useSignal("");
  const done = useSignal("");
  const busy = useSignal(false);
  const sure = useSignal(false);
  const title = useId();
  const { alert } = a;
  const draft = drafted(alert, got.timezone);
  const name = alert.alert_name || (draft ? daysText(draft) : t("alerts"));
  const asleep = a.snoozed_until !== null && a.snoozed_until > now.value;
  const due = dueText(a, got.timezone);
  const query = `?network_id=${o.home.id}`;
  const act = async (method: string, path: string, body?: unknown, said = "") => {
    busy.value = true;
    wrong.value = done.value = "";
    try {
      await call(method, path + query, body);
      done.value = said;
      await changed();
    } catch (e) {
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  const own = `/web/v1/alerts/${alert.uuid}`;
  return (
    <li ref={card} aria-current={shown ? "true" : undefined} class={"card" + (alert.enabled && !asleep ? "" : " off")}>
      <div class="cardhead">
        <h2 id={title}>{name}</h2>
        <button class="switch" role="switch" aria-checked={alert.enabled} aria-label={t("alSwitch", { name })} disabled={busy}
          onClick={() => act("PATCH", "/api/v1/universal-alert-bulk", { enabled: !alert.enabled, uuids: [alert.uuid] })}>
          <span aria-hidden="true">{t(alert.enabled ? "alOn" : "alOff")}</span>
        </button>
      </div>
      <p>{draft ? draftText(draft, whomText(draft.users, got.people, o.user.id)) : foreignText(alert)}</p>
      {!draft && <p><small>{t("alForeign")}</small></p>}
      {draft && draft.users.length > 0 && !draft.users.some((user) => got.people.some((p) => p.id === user)) && <p class="wrong">{t("alNobodyLeft")}</p>}
      {due && <p class="due">{asleep && <span aria-hidden="true">☾ </span>}{due}</p>}
      {a.last && <p class="due">{t("alLast", { time: dayTime(a.last.at, got.timezone) })}</p>}
      <p class="done" role="status">{done}</p>
      <p class="wrong" role="alert">{wrong}</p>
      {asleep && <p><button disabled={busy} onClick={() => act("POST", own + "/snooze", { until: 0 })}>{t("alWake")}</button></p>}
      <details>
        <summary>{t(draft ? "alMore" : "alMoreForeign")}</summary>
        <div class="doings">
          {draft && <a class="button" href={to("alerts", "edit", alert.uuid)}>{t("alEdit")}</a>}
          <button disabled={busy} onClick={() => act("POST", own + "/try", undefined, t("alTried"))}>{t("alTry")}</button>
        </div>
        <div class="doings" role="group" aria-label={t("alSnooze")}>
          <span>{t("alSnooze")}</span>
          {naps.map((nap) => <button key={nap} disabled={busy} onClick={() => act("POST", own + "/snooze", { until: Math.round(now.value) + nap - 1 })}>{span(nap)}</button>)}
        </div>
        <div class="doings">
          {sure.value ? (
            <>
              <strong>{t("alDeleteSure", { name })}</strong>
              <button class="main" disabled={busy} onClick={() => act("DELETE", `/api/v1/universal-alert/${alert.uuid}`)}>{t("alDeleteYes")}</button>
              <button onClick={() => (sure.value = false)}>{t("alDeleteNo")}</button>
            </>
          ) : (
            <button onClick={() => (sure.value = true)}>{t("alDelete")}</button>
          )}
        </div>
      </details>
    </li>
  );
}

/** A new alert, of a preset, or a stored one. */
function Form({ o, answer, preset, uuid }: { o: Overview; answer: Answer<Alerts>; preset?: string; uuid?: string }) {
  const got = answer.value;
  const stored = got?.alerts.find((a) => a.alert.uuid === uuid)?.alert;
  if (!got) return <Page title={t("alNew")}><Waiting answer={answer} /></Page>;
  const made = presets();
  const draft = uuid ? stored && drafted(stored, got.timezone) : (made[preset ?? ""] ?? made.own).draft;
  if (!draft) return <Page title={t("alerts")}><p class="note">{stored ? t("alForeign") : t("alGone")}</p></Page>;
  return <Fields o={o} got={got} first={draft} stored={stored} saved={answer.again} />;
}

function Fields({ o, got, first, stored, saved }: { o: Overview; got: Alerts; first: Draft; stored?: Rule; saved: () => Promise<void> }) {
  const zone = got.timezone;
  const today = isoDay(now.value, zone);
  const users = first.users.filter((id) => got.people.some((p) => p.id === id)); // who has left cannot be told
  const draft = useSignal<Draft>({ ...first, date: first.date || today, users: users.length > 0 || first.users.length === 0 ? users : [o.user.id] });
  const wrong = useSignal("");
  const busy = useSignal(false);
  const id = useId();
  const d = draft.value;
  const set = (change: Partial<Draft>) => (draft.value = { ...draft.value, ...change });
  const name = d.name.trim() || draftText(d, whomText(d.users, got.people, o.user.id)).slice(0, 200);
  const unknown = d.unknown && t("alUnknownTitle", { name });
  const body = { ...written({ ...d, name, unknown }, zone, today, stored?.enabled ?? true, stored?.meta), network_id: o.home.id };
  const save = async (e: SubmitEvent) => {
    e.preventDefault();
    if (d.days === "Chosen" && d.chosen.length === 0) {
      wrong.value = t("alNoDays");
      return;
    }
    busy.value = true;
    wrong.value = "";
    try {
      await call(stored ? "PATCH" : "POST", "/api/v1/universal-alert" + (stored ? "/" + stored.uuid : ""), body);
      await saved();
      go("alerts");
    } catch (e) {
      wrong.value = refusal(e);
      busy.value = false;
    }
  };
  const days = ["Daily", "Weekdays", "Weekend", "Chosen", "Once"] as const;
  const findings = ["Motion", "Nobody", "Still", "Time"] as const;
  return (
    <Page title={stored ? stored.alert_name || t("alEdit") : t("alNew")} kind="alerts">
      <form class="ruleform" onSubmit={save}>
        <p class="said">{draftText(d, whomText(d.users, got.people, o.user.id))}</p>
        <fieldset>
          <legend>{t("alWhen")}</legend>
          <label for={id + "days"}>{t("alDaysAre")}</label>
          <select id={id + "days"} name="days" value={d.days} onChange={(e) => set({ days: e.currentTarget.value as Draft["days"] })}>
            {days.map((k) => <option key={k} value={k}>{t(`alDays${k}`)}</option>)}
          </select>
          {d.days === "Chosen" && (
            <div class="days">
              {weekdays.map((day) => (
                <label key={day} class="check">
                  <input type="checkbox" checked={d.chosen.includes(day)}
                    onChange={(e) => set({ chosen: weekdays.filter((w) => (w === day ? e.currentTarget.checked : d.chosen.includes(w))) })} /> {weekdayName(day, "short")}
                </label>
              ))}
            </div>
          )}
          {d.days === "Once" && (
            <label>{t("alDate")} <input type="date" name="date" min={today} value={d.date} required onInput={(e) => e.currentTarget.value && set({ date: e.currentTarget.value })} /></label>
          )}
          <div class="times">
            {d.finding !== "Time" && <label>{t("alFrom")} <input type="time" name="from" value={d.from} required onInput={(e) => e.currentTarget.value && set({ from: e.currentTarget.value })} /></label>}
            <label>{t(d.finding === "Time" ? "alAt" : "alTo")} <input type="time" name="to" value={d.to} required onInput={(e) => e.currentTarget.value && set({ to: e.currentTarget.value })} /></label>
          </div>
          <small>{t("alZone", { zone })}</small>
        </fieldset>
        <fieldset>
          <legend>{t("alIf")}</legend>
          {findings.map((k) => (
            <label key={k} class="check"><input type="radio" name={id + "finding"} value={k} checked={d.finding === k} onChange={() => set({ finding: k })} /> {t(`alFinding${k}`)}</label>
          ))}
          {d.finding === "Still" && (
            <label>{t("alMinutes")} <input type="number" name="minutes" min={1} max={lasts(d)} value={d.minutes} required onInput={(e) => e.currentTarget.valueAsNumber >= 1 && set({ minutes: Math.floor(e.currentTarget.valueAsNumber) })} /></label>
          )}
          {awaits(d) && <label class="check"><input type="checkbox" name="unknown" checked={d.unknown !== ""} onChange={(e) => set({ unknown: e.currentTarget.checked ? "?" : "" })} /> {t("alUnknown")}</label>}
          {(got.unauthenticated || first.authenticated) && d.finding !== "Time" && <label class="check"><input type="checkbox" name="authenticated" checked={d.authenticated} onChange={(e) => set({ authenticated: e.currentTarget.checked })} /> {t("alLoggedIn")}</label>}
          <label for={id + "scene"}>{t("alScene")}</label>
          <select id={id + "scene"} name="scene" value={d.scene} onChange={(e) => set({ scene: e.currentTarget.value as Draft["scene"] })}>
            <option value="">{t("alSceneAny")}</option>
            <option value="home">{t("alSceneHome")}</option>
            <option value="away">{t("alSceneAway")}</option>
          </select>
        </fieldset>
        <fieldset>
          <legend>{t("alThen")}</legend>
          <div role="group" aria-label={t("alTell")}>
            <label class="check"><input type="checkbox" checked={d.users.length === 0} onChange={(e) => set({ users: e.currentTarget.checked ? [] : [o.user.id] })} /> {t("alTellAll")}</label>
            {d.users.length > 0 && got.people.filter((p) => p.name).map((p) => (
              <label key={p.id} class="check">
                <input type="checkbox" checked={d.users.includes(p.id)}
                  onChange={(e) => set({ users: e.currentTarget.checked ? [...d.users, p.id] : d.users.filter((u) => u !== p.id) })} /> {p.name}
              </label>
            ))}
          </div>
          {d.users.length > 0 && <small>{t("alAllSee")}</small>}
          <label for={id + "name"}>{t("alName")}</label>
          <input id={id + "name"} name="name" maxLength={200} value={d.name} onInput={(e) => set({ name: e.currentTarget.value })} />
        </fieldset>
        <Preview body={body} zone={zone} whom={whomText(d.users, got.people, o.user.id)} atOnce={d.finding === "Motion"} />
        <p class="wrong" role="alert">{wrong}</p>
        <div class="doings">
          <button class="main" disabled={busy}>{t("alSave")}</button>
          <a class="button" href={to("alerts")}>{t("alCancel")}</a>
        </div>
      </form>
    </Page>
  );
}

/** A run in words: what tells at once watches for all of it, the others look at its end. */
function runText(r: { start: number; end: number }, zone: string, atOnce: boolean): string {
  if (!atOnce) return dayTime(r.end, zone);
  const [from, until] = [clock(r.start, zone), clock(r.end, zone)];
  return from === until ? t("alAllDay", { day: shortDay(r.start, zone) }) : `${dayTime(r.start, zone)} – ${until}`;
}

interface Previewed {
  runs: { start: number; end: number }[];
  told?: number[];
  unknown: number;
}

const settles = 400; // ms without a change, after which a preview is asked for
const named = 5; // times of the past that are named

/** What a rule will do, and what it would have done. */
function Preview({ body, zone, whom, atOnce }: { body: unknown; zone: string; whom: string; atOnce: boolean }) {
  const got = useSignal<Previewed | undefined>(undefined);
  const wrong = useSignal("");
  const text = JSON.stringify(body);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(async () => {
      try {
        const answer = await call<Previewed>("POST", "/web/v1/alerts/preview", JSON.parse(text));
        if (!current) return;
        got.value = answer;
        wrong.value = "";
      } catch (e) {
        if (!current) return;
        got.value = undefined;
        wrong.value = refusal(e);
      }
    }, settles);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text]);
  const p = got.value;
  return (
    <section class="preview">
      <h2>{t("alPreview")}</h2>
      <p class="wrong" role="status">{wrong}</p>
      {p && (
        <>
          <h3>{t("alRuns")}</h3>
          <ul class="runs">{p.runs.map((r) => <li key={r.end}>{runText(r, zone, atOnce)}</li>)}</ul>
          <h3>{t("alPast")}</h3>
          <p class="told">
            {p.told === undefined ? t("alPastNot") :
              p.told.length === 0 ? t("alPastNone") :
              t("alPastTold", { whom, times: counted("alPastTimes", p.told.length) }) + " " + p.told.slice(-named).reverse().map((at) => weekdayTime(at, zone)).join(", ") +
                (p.told.length > named ? " " + t("alPastMore", { n: p.told.length - named }) : "")}
          </p>
          {p.unknown > 0 && <p>{counted("alPastUnknown", p.unknown)}</p>}
        </>
      )}
    </section>
  );
}
