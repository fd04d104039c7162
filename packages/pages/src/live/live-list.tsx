import { createHash } from 'node:crypto';
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { textsOf, translatorOf } from '../catalogues.ts';
import type { WidePage } from '../design/shell.tsx';
import type { BuiltScript } from '../renderer.ts';
import type { Texts } from '../texts.ts';
import type { LiveView } from '../views/live.ts';

const t = translatorOf('live', 'en');

/** What the script of a page with a live list starts from. */
export interface LiveData {
  texts: Texts<'live'>;
  /** Where it reads the list. */
  listPath: string;
}

export function liveScriptOf(
  { scriptPath, listPath }: LiveView,
  { integrity }: BuiltScript,
): WidePage['script'] {
  const data: LiveData = { texts: textsOf('live', 'en'), listPath };
  return { src: scriptPath, integrity, data };
}

/** A list of blocks that the page's script keeps up to date, below the line that says whether it does. */
export function LiveList({ children }: { children: ComponentChildren }) {
  return (
    <>
      <p id="status" role="status">
        {t('reload')}
      </p>
      <div id="list">{children}</div>
    </>
  );
}

/** A page that is a live list below its heading. */
export function livePage(
  { title, intro, list }: { title: string; intro: string; list: VNode },
  view: LiveView,
  script: BuiltScript,
): WidePage {
  return {
    title,
    body: (
      <>
        <h1>{title}</h1>
        <p class="quiet">{intro}</p>
        <LiveList>{list}</LiveList>
      </>
    ),
    script: liveScriptOf(view, script),
  };
}

/** A block with a name and a version: the script replaces it where the version has changed. */
export function Block({ id, kind = '', children }: { id: string; kind?: string; children: VNode }) {
  const version = createHash('sha256').update(renderToString(children)).digest('base64url').slice(0, 16);
  return (
    <section id={id} class={kind} data-version={version} aria-labelledby={`${id}-title`}>
      {children}
    </section>
  );
}

export function Time({ iso }: { iso: string }) {
  return <time dateTime={iso}>{iso.replace('T', ' ').replace('Z', '')}</time>;
}

/** Lines that scroll sideways where they are too long. */
export function Code({ id, label, text }: { id?: string; label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reached by the keyboard
    <pre id={id} tabIndex={0} role="group" aria-label={label}>
      {text}
    </pre>
  );
}
