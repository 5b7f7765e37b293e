// One operation: a line in the list, and all that is said of it once it is opened.

import { useRef } from "preact/hooks";
import { Call } from "./call";
import { examples, json, resolve, type Answer, type Document, type Media, type Operation } from "./document";
import { inline, Markdown } from "./markdown";
import { Later, Notes, Shape, typeName } from "./schema";

interface Props {
  doc: Document;
  base: string;
  o: Operation;
  secrets: Record<string, string>;
}

/** An operation. What is in it is made when it is first opened, and then kept with its fields. */
export function Entry({ open, hidden, toggle, ...props }: Props & { open: boolean; hidden: boolean; toggle: () => void }) {
  const { o } = props;
  const opened = useRef(false);
  opened.current ||= open;
  return (
    <article class="operation" hidden={hidden}>
      <h3>
        <button type="button" id={o.id} aria-expanded={open} aria-controls={o.id + "/inside"} onClick={toggle}>
          <span class={"method " + o.method}>{o.method.toUpperCase()}</span> <code class="path">{breakable(o.path)}</code> <span>{o.summary}</span>
          {o.websocket && <span class="mark">websocket</span>}
          {o.deprecated && <span class="mark">deprecated</span>}
        </button>
      </h3>
      <div id={o.id + "/inside"} class="inside" hidden={!open}>{opened.current && <Inside {...props} />}</div>
    </article>
  );
}

/** Lets a path break after its slashes. */
function breakable(path: string) {
  return path.split(/(?<=.)(?=\/)/).flatMap((part, i) => (i ? [<wbr />, part] : [part]));
}

function Inside({ doc, base, o, secrets }: Props) {
  return (
    <>
      <Markdown text={o.description} />
      <p><a href={o.link}>Link to this operation</a></p>
      <h4>Credentials</h4>
      <Who doc={doc} o={o} />
      {o.parameters.length > 0 && <h4>Parameters</h4>}
      {o.parameters.length > 0 && (
        <ul class="tree">
          {o.parameters.map((p) => (
            <li>
              <code class="name">{p.name}</code> <span class="type">{p.schema && typeName(p.schema)}, in {p.in}</span>
              {p.required && <b class="required"> required</b>}
              <Notes schema={p.schema ? resolve(doc, p.schema) : {}} description={p.description ?? p.schema?.description} />
            </li>
          ))}
        </ul>
      )}
      {o.requestBody && <h4>Body</h4>}
      {o.requestBody && <p>{o.requestBody.required ? "Required. " : "Optional. "}{inline(o.requestBody.description ?? "")}</p>}
      {Object.entries(o.requestBody?.content ?? {}).map(([type, media]) => <Content doc={doc} type={type} media={media} />)}
      {o.websocket ? <Socket base={base} o={o} /> : <Call doc={doc} base={base} o={o} secrets={secrets} />}
      <h4>Answers</h4>
      {Object.entries(o.responses).map(([status, a]) => <Response doc={doc} status={status} a={resolve(doc, a)} />)}
    </>
  );
}

function Who({ doc, o }: { doc: Document; o: Operation }) {
  if (o.security.length === 0) return <p>None: anybody who reaches the appliance may call it.</p>;
  const told = (name: string) => {
    const s = doc.components?.securitySchemes?.[name];
    const where = s?.type === "apiKey" ? `${s.in} ${s.name}` : s?.type === "http" ? `header Authorization: ${s.scheme}` : (s?.type ?? "");
    return <><code>{name}</code> ({where}): {inline(s?.description ?? "")}</>;
  };
  return (
    <ul class="dots">
      {o.security.map((way, i) => <li>{i > 0 && "or "}{Object.keys(way).map((name, j) => <>{j > 0 && " and "}{told(name)}</>)}</li>)}
    </ul>
  );
}

function Content({ doc, type, media }: { doc: Document; type: string; media: Media }) {
  return (
    <>
      <p><code>{type}</code></p>
      {media.schema && <Shape doc={doc} schema={media.schema} />}
      {/json|text/.test(type) && examples(media).map(([name, value]) => (
        <figure>
          <figcaption>Example{name && ": " + name}</figcaption>
          <pre>{json(value)}</pre>
        </figure>
      ))}
    </>
  );
}

function Response({ doc, status, a }: { doc: Document; status: string; a: Answer }) {
  const good = status[0] === "2" || status[0] === "1";
  const head = <><b class="status">{status}</b> {inline(a.description ?? "")}</>;
  if (!a.content && !a.headers) return <p class="answer">{head}</p>;
  return (
    <Later summary={head} open={good}>
      {() => (
        <>
          {a.headers && <p>Headers</p>}
          {a.headers && (
            <ul class="tree">
              {Object.entries(a.headers).map(([name, h]) => (
                <li>
                  <code class="name">{name}</code> <span class="type">{h.schema && typeName(h.schema)}</span>
                  <Notes schema={h.schema ?? {}} description={h.description ?? h.schema?.description} />
                </li>
              ))}
            </ul>
          )}
          {Object.entries(a.content ?? {}).map(([type, media]) => <Content doc={doc} type={type} media={media} />)}
        </>
      )}
    </Later>
  );
}

/** What takes the place of a command for a websocket. */
function Socket({ base, o }: { base: string; o: Operation }) {
  return (
    <>
      <h4>Connect to it</h4>
      <p class="note">This is a websocket, which this page does not open. Connect a websocket client, with the credentials above, to:</p>
      <pre class="curl">{location.origin.replace(/^http/, "ws") + base + o.path}</pre>
    </>
  );
}
