import { createHash } from 'node:crypto';
import type { ComponentChildren, VNode } from 'preact';
import { translatorOf } from '../catalogues.ts';
import type { RenderedPage } from '../renderer.ts';
import { directionOf, LANGUAGE_NAMES, PAGE_LANGUAGES, type PageLanguage } from '../views/languages.ts';
import base from './base.css?inline';
import { documentOf, raw } from './document.tsx';
import sheet from './sheet.css?inline';
import tokens from './tokens.css?inline';
import wide from './wide.css?inline';

/** A style sheet, and the source by which a policy allows it and no other. */
interface Style {
  css: string;
  source: string;
}

function styleOf(...parts: string[]): Style {
  const css = parts.join('');
  return { css, source: `'sha256-${createHash('sha256').update(css).digest('base64')}'` };
}

const SHEET_STYLE = styleOf(tokens, base, sheet);
const WIDE_STYLE = styleOf(tokens, base, wide);

/** A script of our own origin, and the data that it starts from. */
interface PageScript {
  src: string;
  integrity: string;
  data: object;
}

const SCRIPT_POLICY = { 'script-src': "'self'", 'connect-src': "'self'" };

/** One `<` is enough to end a script element. */
const json = (data: object) => JSON.stringify(data).replaceAll('<', '\\u003c');

function ScriptOf({ src, integrity, data }: PageScript) {
  return (
    <>
      {/* Safe as it is: JSON without any `<`. */}
      <script type="application/json" id="data" dangerouslySetInnerHTML={raw(json(data))} />
      <script type="module" src={src} integrity={integrity} />
    </>
  );
}

interface DocumentProps {
  language: PageLanguage;
  title: string;
  style: Style;
  script: PageScript | undefined;
  children: ComponentChildren;
}

function htmlOf({ language, title, style, script, children }: DocumentProps): string {
  return documentOf({
    language,
    title,
    css: style.css,
    head: <link rel="icon" href="data:," />,
    children: (
      <>
        {children}
        {script === undefined ? null : <ScriptOf {...script} />}
      </>
    ),
  });
}

/** A page for payers. Links that change the language lead to the same path with `?lang=`. */
export interface Sheet {
  language: PageLanguage;
  title: string;
  /** Of the page's `main`, made of the classes of sheet.css. */
  body: VNode;
  script?: PageScript;
}

function Languages({ language }: { language: PageLanguage }) {
  const t = translatorOf('shell', language);
  return (
    <footer class="foot">
      <nav aria-label={t('language')}>
        {PAGE_LANGUAGES.map((other) => (
          <a
            key={other}
            href={`?lang=${other}`}
            lang={other}
            dir={directionOf(other)}
            hreflang={other}
            aria-current={other === language ? 'true' : undefined}
          >
            {LANGUAGE_NAMES[other]}
          </a>
        ))}
      </nav>
    </footer>
  );
}

/** The page may send forms to its own origin, and a script may call that. */
export function renderSheet({ language, title, body, script }: Sheet): RenderedPage {
  return {
    html: htmlOf({
      language,
      title,
      style: SHEET_STYLE,
      script,
      children: (
        <div class="sheet">
          <main id="page">{body}</main>
          <Languages language={language} />
        </div>
      ),
    }),
    policy: {
      'style-src': SHEET_STYLE.source,
      'img-src': 'data:',
      'form-action': "'self'",
      ...(script === undefined ? {} : SCRIPT_POLICY),
      // Browsers refuse text that a script takes for HTML.
      'require-trusted-types-for': "'script'",
      'trusted-types': "'none'",
    },
  };
}

/** A page for developers, in English. */
export interface WidePage {
  title: string;
  body: VNode;
  script?: PageScript | undefined;
  /** It may send forms to its own origin. */
  hasForm?: boolean;
}

export function renderWide({ title, body, script, hasForm = false }: WidePage): RenderedPage {
  return {
    html: htmlOf({
      language: 'en',
      title: `${title} – Florin`,
      style: WIDE_STYLE,
      script,
      children: <main>{body}</main>,
    }),
    policy: {
      'style-src': WIDE_STYLE.source,
      'img-src': 'data:',
      ...(hasForm ? { 'form-action': "'self'" } : {}),
      ...(script === undefined ? {} : SCRIPT_POLICY),
    },
  };
}
