// Calling an operation: the command for it, the fields to fill in, and the answer.

import { useEffect, useState } from "preact/hooks";
import { json, type Document, type Operation, type Parameter } from "./document";
import { begin, bodyType, curl, exampleOf, fieldName, ready, type Filled, type Ready } from "./request";

interface Answered {
  status: string;
  ms: number;
  headers: [string, string][];
  text?: string;
  cut?: boolean; // text is the beginning
  image?: string; // a data: URL
  file?: string; // a blob: URL
  size: number;
}

/** The most characters of an answer that are shown. */
const shownCharacters = 100_000;

/** Sends a request as it is filled in, without the cookies that the browser has. */
async function send(method: string, r: Ready): Promise<Answered> {
  const began = performance.now();
  const answer = await fetch(r.url, {
    method: method.toUpperCase(), headers: r.headers, body: r.body, credentials: "omit", cache: "no-store", signal: AbortSignal.timeout(60_000),
  });
  const content = await answer.blob();
  const told: Answered = {
    status: `${answer.status} ${answer.statusText}`, ms: Math.round(performance.now() - began), headers: [...answer.headers], size: content.size,
  };
  if (content.size === 0) return told;
  const type = answer.headers.get("Content-Type") ?? "";
  if (/json|^text\//.test(type)) {
    const text = pretty(await content.text());
    return { ...told, text: text.slice(0, shownCharacters), cut: text.length > shownCharacters, file: URL.createObjectURL(content) };
  }
  return { ...told, file: URL.createObjectURL(content), image: type.startsWith("image/") ? await dataURL(content) : undefined };
}

function pretty(text: string) {
  try {
    return json(JSON.parse(text));
  } catch {
    return text;
  }
}

function dataURL(content: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(content);
  });
}

interface Props {
  doc: Document;
  base: string;
  o: Operation;
  secrets: Record<string, string>;
}

export function Call({ doc, base, o, secrets }: Props) {
  const [filled, fill] = useState(() => begin(doc, o));
  const [trying, setTrying] = useState(false);
  return (
    <>
      <h4>Call it</h4>
      <pre class="curl">{curl(doc, base, o, filled)}</pre>
      {trying
        ? <Try doc={doc} base={base} o={o} secrets={secrets} filled={filled} fill={fill} />
        : <button type="button" onClick={() => setTrying(true)}>Try it here</button>}
    </>
  );
}

function Try({ doc, base, o, secrets, filled, fill }: Props & { filled: Filled; fill: (f: Filled) => void }) {
  const [answered, setAnswered] = useState<Answered>();
  const [trouble, setTrouble] = useState("");
  const [waiting, setWaiting] = useState(false);
  const id = o.id + "/";
  useEffect(() => document.getElementById(id + "form")?.querySelector<HTMLElement>("input, textarea, button")?.focus(), []);
  useEffect(() => () => answered?.file && URL.revokeObjectURL(answered.file), [answered]);
  const submit = async (e: Event) => {
    e.preventDefault();
    setWaiting(true);
    setTrouble("");
    setAnswered(undefined);
    try {
      setAnswered(await send(o.method, ready(doc, base, o, filled, secrets)));
    } catch (e) {
      setTrouble(`There is no answer: ${(e as Error).message}`);
    }
    setWaiting(false);
  };
  return (
    <form id={id + "form"} onSubmit={submit}>
      {o.parameters.filter((p) => p.in !== "cookie").map((p) => (
        <Input p={p} id={id + p.in + "." + p.name} value={filled.values[fieldName(p)] ?? ""}
          set={(v) => fill({ ...filled, values: { ...filled.values, [fieldName(p)]: v } })} />
      ))}
      {bodyType(o) && (
        <p>
          <label for={id + "body"}>Body <small>{bodyType(o)}</small></label>
          <textarea id={id + "body"} rows={Math.min(16, filled.body.split("\n").length + 2)} spellcheck={false} value={filled.body}
            onInput={(e) => fill({ ...filled, body: e.currentTarget.value })} />
        </p>
      )}
      {o.security.length > 0 && !o.security.some((way) => Object.keys(way).every((name) => secrets[name])) && (
        <p class="note">There are no credentials yet: <a href="#credentials">enter them above</a>.</p>
      )}
      <button class="main" disabled={waiting}>Send {o.method.toUpperCase()}</button>
      <div role="status">{waiting ? "Waiting for the answer" : answered ? `Answered ${answered.status} in ${answered.ms} ms, ${answered.size} bytes` : ""}</div>
      <div role="alert">{trouble}</div>
      {answered && <Received a={answered} name={o.operationId ?? "answer"} />}
    </form>
  );
}

function Input({ p, id, value, set }: { p: Parameter; id: string; value: string; set: (v: string) => void }) {
  const booleans = p.schema?.type === "boolean" ? ["true", "false"] : undefined;
  const options = p.schema?.enum?.map(String) ?? booleans;
  return (
    <p>
      <label for={id}>{p.name} <small>{p.in}{p.required ? ", required" : ""}</small></label>
      {options
        ? (
          <select id={id} value={value} onChange={(e) => set(e.currentTarget.value)}>
            {["", ...options].map((option) => <option value={option}>{option || "not sent"}</option>)}
          </select>
        )
        : <input id={id} value={value} placeholder={exampleOf(p)} required={p.in === "path"} autocomplete="off" spellcheck={false}
            onInput={(e) => set(e.currentTarget.value)} />}
    </p>
  );
}

function Received({ a, name }: { a: Answered; name: string }) {
  return (
    <>
      <details>
        <summary>Headers of the answer</summary>
        <pre>{a.headers.map(([k, v]) => `${k}: ${v}`).join("\n")}</pre>
      </details>
      {a.image && <img src={a.image} alt="The picture that was answered" />}
      {a.text !== undefined && <pre class="body">{a.text}</pre>}
      {a.cut && <p>This is the beginning of the answer.</p>}
      {a.file && <p><a href={a.file} download={name}>Save the answer</a></p>}
    </>
  );
}
