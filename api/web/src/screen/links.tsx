import { useId } from "preact/hooks";
import { useAnswer, type Answer } from "../answer";
import { Calibrate } from "../part/calibrate";
import { LinkList, linkName, Reason, useLinks, type Links, type SensingLink } from "../part/linklist";
import { Waiting } from "../part/page";
import { figure, mayInstall, SetupPage, useClock, type SetupProps } from "../part/setup";
import { dayTime } from "../part/when";
import { place, to } from "../route";
import { ago, clock, language } from "../text";
import { su, suCode } from "../words/setup";

/** The links of the home, or the one that the address names. */
export function Screen(props: SetupProps) {
  if (!mayInstall(props)) return <SetupPage {...props} title="suLinks"><p class="note">{su("suOwnerOnly")}</p></SetupPage>;
  return <Shown {...props} />;
}

function Shown(props: SetupProps) {
  const answer = useLinks(props.home);
  const id = place.value.rest[0];
  if (id) return <One key={id} {...props} answer={answer} link={answer.value?.links.find((l) => l.id === id)} />;
  const links = answer.value?.links ?? [];
  const able = links.filter((l) => l.can !== "blind").length;
  return (
    <SetupPage {...props} title="suLinks" truth={links.length === 0 ? "" : able === links.length ? su("suLinksAll", { n: able }) : su("suLinksTruth", { n: able, total: links.length })}>
      <Waiting answer={answer} />
      {answer.value && links.length === 0 && <p class="note"><strong>{su("suNoLinks")}</strong> {su("suNoLinksHelp")}</p>}
      <LinkList links={links} />
      {links.length > 0 && <Calibrate home={props.home} link="" again={answer.again} />}
    </SetupPage>
  );
}

/** From where on a link's change counts as motion. */
function threshold(l: SensingLink): string {
  if (l.threshold === null) return "";
  return l.scale === "power" ? su("suPower", { n: figure(Math.exp(l.threshold)) }) : su("suCoherence", { n: figure(l.threshold, 0) });
}

/** One link: what it can do and why, its figures, the last day, and its calibration. */
function One({ answer, link, ...props }: SetupProps & { answer: Answer<Links>; link: SensingLink | undefined }) {
  const now = useClock(answer.value?.ts);
  const back = <p><a href={to("links")}>{su("suAllLinks")}</a></p>;
  if (!link) {
    return (
      <SetupPage {...props} title="suLinks">
        {answer.value ? <p class="note">{su("suLinkGone")}</p> : <Waiting answer={answer} />}
        {back}
      </SetupPage>
    );
  }
  const facts: [string, string][] = [
    [su("suFrames"), link.rate === null ? "" : su("suRate", { n: figure(link.rate) })],
    [su("suStrength"), link.rssi === null ? "" : figure(link.rssi, 0) + " dBm"],
    [su("suAmplitude"), link.amplitude === null ? "" : figure(link.amplitude)],
    [su("suMissing"), link.missing === null ? "" : new Intl.NumberFormat(language.value, { style: "percent" }).format(link.missing)],
    [su("suThreshold"), threshold(link)],
    [su("suLastMotion"), link.last_motion === null ? "" : ago(now - link.last_motion)],
  ];
  return (
    <SetupPage {...props} title="suLinks" truth={linkName(link)}>
      {answer.refusal && <Waiting answer={answer} />}
      <section class={"su-one su-" + link.can}>
        <p><span class="su-sign" aria-hidden="true" /> <strong class="su-state">{suCode("suCan_", link.can)}</strong> <small>{link.zone ? su("suServes", { room: link.zone }) : su("suServesNone")}</small></p>
        <p>{suCode("suCanHelp_", link.can)}</p>
        {link.unauthenticated && <p class="su-why">{su("suLinkOpenHelp")}</p>}
        <ul class="su-reasons">{link.why.length === 0 ? <li>{su("suWhyNone")}</li> : link.why.map((r) => <li key={r.code}><Reason reason={r} /></li>)}</ul>
        <dl class="su-figures">{facts.filter(([, v]) => v).map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
      </section>
      <section class="su-part">
        <h2>{su("suCalibrate")}</h2>
        <p><small>{link.calibrated_at === null ? su("suCalibratedNever") : su("suCalibrated", { time: dayTime(link.calibrated_at, props.home.timezone) })}</small></p>
        <Calibrate home={props.home} link={link.id} again={answer.again} />
      </section>
      <History home={props.home} id={link.id} />
      {back}
    </SetupPage>
  );
}

/** What is kept of a link: values of steps that follow one another, null for no data. */
interface LinkHistory {
  since: number | null; // from when on something is kept
  from: number;
  step: number;
  rate: (number | null)[];
  rssi: (number | null)[];
  can: string[]; // what it could do; "" for no data
}

function History({ home, id }: { home: SetupProps["home"]; id: string }) {
  const answer = useAnswer<LinkHistory>(`/web/v1/links/${encodeURIComponent(id)}/history?network_id=${home.id}`, 60);
  const h = answer.value;
  const known = h && [...h.rate, ...h.rssi].some((v) => v !== null);
  const told = h?.can.filter((v) => v !== "") ?? [];
  return (
    <section class="su-part">
      <h2>{su("suHistory")}</h2>
      <Waiting answer={answer} />
      {h && !known && <p class="note">{su("suHistoryNone")}</p>}
      {h && known && (
        <>
          {told.length > 0 && <p>{su("suHistoryCan", { n: Math.round((100 * told.filter((v) => v !== "blind").length) / told.length) })}</p>}
          <Curve name={su("suHistoryRate")} h={h} values={h.rate} zone={home.timezone} />
          <Curve name={su("suHistorySignal")} h={h} values={h.rssi} zone={home.timezone} />
          {h.since !== null && <p><small>{su("suHistorySince", { time: dayTime(h.since, home.timezone) })}</small></p>}
          <Table h={h} zone={home.timezone} />
        </>
      )}
    </section>
  );
}

/** Values over time as a line between their lowest and highest. */
function Curve({ name, h, values, zone }: { name: string; h: LinkHistory; values: (number | null)[]; zone: string }) {
  const id = useId();
  const known = values.filter((v) => v !== null);
  if (known.length === 0) return null;
  const low = Math.min(...known), high = Math.max(...known), range = high - low || 1;
  let path = "", drawing = false;
  values.forEach((v, i) => {
    if (v === null) drawing = false;
    else {
      const y = (38 - (36 * (v - low)) / range).toFixed(1);
      path += drawing ? `L${i + 0.5} ${y}` : `M${i} ${y}h.5`;
      drawing = true;
    }
  });
  const n = (v: number) => figure(v, 0);
  return (
    <figure class="su-curve">
      <figcaption id={id}>{su("suHistoryText", { what: name, low: n(low), high: n(high), last: n(known[known.length - 1]) })}</figcaption>
      <svg viewBox={`0 0 ${values.length} 40`} preserveAspectRatio="none" role="img" aria-labelledby={id}><path d={path} /></svg>
      <p class="axis" aria-hidden="true"><span>{clock(h.from, zone)}</span><span>{clock(h.from + h.step * values.length, zone)}</span></p>
    </figure>
  );
}

/** The same in hours, for those who cannot see a line. */
function Table({ h, zone }: { h: LinkHistory; zone: string }) {
  const hour = Math.max(1, Math.round(3600 / h.step));
  const mean = (values: (number | null)[], at: number) => {
    const known = values.slice(at, at + hour).filter((v) => v !== null);
    return known.length === 0 ? "–" : figure(known.reduce((a, b) => a + b, 0) / known.length, 0);
  };
  const rows = Array.from({ length: Math.ceil(h.rate.length / hour) }, (_, i) => i * hour);
  return (
    <details>
      <summary>{su("suTable")}</summary>
      <div class="scroll" tabIndex={0} role="group" aria-label={su("suHistory")}>
        <table class="figures">
          <thead><tr><th scope="col">{su("suTime")}</th><th scope="col">{su("suHistoryRate")}</th><th scope="col">{su("suHistorySignal")}</th></tr></thead>
          <tbody>{rows.map((at) => <tr key={at}><th scope="row">{clock(h.from + at * h.step, zone)}</th><td>{mean(h.rate, at)}</td><td>{mean(h.rssi, at)}</td></tr>)}</tbody>
        </table>
      </div>
    </details>
  );
}
