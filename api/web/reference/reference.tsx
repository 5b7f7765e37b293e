// The API reference: the interfaces of this appliance, and the operations of the one that ?at= names.

import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { groupID, groups, named, type Document, type Group, type Operation } from "./document";
import { Markdown } from "./markdown";
import { Entry } from "./operation";
import { Later } from "./schema";

interface Interface {
  title: string;
  base: string;
}

async function load<T>(url: string): Promise<T> {
  const answer = await fetch(url, { credentials: "omit" });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return answer.json();
}

function Page() {
  const [list, setList] = useState<Interface[]>([]);
  const [doc, setDoc] = useState<Document>();
  const [trouble, setTrouble] = useState("");
  const asked = new URLSearchParams(location.search).get("at");
  const chosen = list.find((i) => i.base === asked) ?? list[0];
  const fetchAll = async () => {
    setTrouble("");
    try {
      const found = await load<Interface[]>("/docs/interfaces.json");
      setList(found);
      const at = found.find((i) => i.base === asked) ?? found[0];
      if (!at) throw new Error("no interface is served here");
      setDoc(await load<Document>(at.base + "/openapi.json"));
    } catch (e) {
      setTrouble(`The reference cannot be loaded: ${(e as Error).message}`);
    }
  };
  useEffect(() => void fetchAll(), []);
  return (
    <>
      <header>
        <nav aria-label="Interfaces">
          {list.map((i) => <a href={"/docs/?at=" + encodeURIComponent(i.base)} aria-current={i === chosen ? "page" : undefined}>{i.title}</a>)}
        </nav>
      </header>
      {doc && chosen
        ? <Reference doc={doc} base={chosen.base} />
        : (
          <main aria-busy={!trouble}>
            <h1>API reference</h1>
            <p role="alert">{trouble}</p>
            {trouble && <button type="button" onClick={fetchAll}>Try again</button>}
          </main>
        )}
    </>
  );
}

function Reference({ doc, base }: { doc: Document; base: string }) {
  const all = useMemo(() => groups(doc), [doc]);
  const [sought, seek] = useState("");
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [secrets, setSecrets] = useState<Record<string, string>>({});
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (o: Operation) => words.every((word) => o.words.includes(word));
  const count = all.reduce((n, g) => n + g.operations.filter(fits).length, 0);
  useFollow(all, base, (found) => {
    seek(""); // it may be hidden
    if ("link" in found) setOpen((now) => new Set(now).add(found.link));
  });
  useEffect(() => void (document.title = `${doc.info.title} – API reference`), [doc]);
  const toggle = (o: Operation) => {
    if (!open.has(o.link)) history.replaceState(null, "", o.link);
    setOpen((now) => {
      const next = new Set(now);
      if (!next.delete(o.link)) next.add(o.link);
      return next;
    });
  };
  return (
    <main>
      <h1>{doc.info.title} <small>version {doc.info.version}</small></h1>
      <p><a href={base + "/openapi.json"}>OpenAPI document</a>, served below <code>{location.origin + base}</code></p>
      {doc.info.description && (
        <Later summary="About this interface" open={innerWidth > 640}>{() => <Markdown text={doc.info.description} />}</Later>
      )}
      <Credentials doc={doc} all={all} secrets={secrets} set={setSecrets} />
      <search>
        <label for="search">Search operations</label>
        <input id="search" type="search" value={sought} onInput={(e) => seek(e.currentTarget.value)} placeholder="method, path, words" autocomplete="off" spellcheck={false} />
        <p role="status">{count} {count === 1 ? "operation" : "operations"}{words.length > 0 && " found"}</p>
      </search>
      <nav aria-label="Groups of operations" class="groups" hidden={words.length > 0}>
        {all.map((g) => <a href={"#" + groupID(g.name)}>{g.name}</a>)}
      </nav>
      {all.map((g) => (
        <section hidden={!g.operations.some(fits)}>
          <h2 id={groupID(g.name)} tabIndex={-1}>{g.name}</h2>
          <Markdown text={g.description} />
          {g.operations.map((o) => (
            <Entry key={o.link} doc={doc} base={base} o={o} secrets={secrets} open={open.has(o.link)} hidden={!fits(o)} toggle={() => toggle(o)} />
          ))}
        </section>
      ))}
    </main>
  );
}

/** Goes to what the address names, now and when it changes. */
function useFollow(all: Group[], base: string, show: (found: Operation | Group) => void) {
  const [at, setAt] = useState<string>();
  useEffect(() => {
    const follow = () => {
      const found = named(all, base, location.hash);
      if (found) show(found);
      setAt(found && ("link" in found ? found.id : groupID(found.name)));
    };
    follow();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [all]);
  useEffect(() => {
    const element = at && document.getElementById(at);
    if (!element) return;
    element.focus({ preventScroll: true });
    element.scrollIntoView();
    setAt(undefined); // the same link may be followed again
  }, [at]);
}

/** The fields for secrets of the schemes that requests of this page need. They are kept in memory,
 * until the page is left. */
function Credentials({ doc, all, secrets, set }: { doc: Document; all: Group[]; secrets: Record<string, string>; set: (s: Record<string, string>) => void }) {
  const used = new Set(all.flatMap((g) => g.operations.filter((o) => !o.websocket).flatMap((o) => o.security.flatMap(Object.keys))));
  const schemes = Object.entries(doc.components?.securitySchemes ?? {}).filter(([name]) => used.has(name));
  if (schemes.length === 0) return null;
  return (
    <form aria-labelledby="credentials" onSubmit={(e) => e.preventDefault()}>
      <h2 id="credentials" tabIndex={-1}>Credentials</h2>
      <p>To try operations here. They stay in the memory of this page until you leave it.</p>
      {schemes.map(([name, s]) => (
        <p>
          <label for={"secret-" + name}>{name} <small>{s.description}</small></label>
          <input id={"secret-" + name} type="password" value={secrets[name] ?? ""} autocomplete="off" spellcheck={false}
            onInput={(e) => set({ ...secrets, [name]: e.currentTarget.value })} />
        </p>
      ))}
    </form>
  );
}

const root = document.getElementById("reference")!;
root.textContent = "";
render(<Page />, root);
