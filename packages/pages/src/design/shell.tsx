import { createHash } from 'node:crypto';
import type { ComponentChildren, VNode } from 'preact';
import { translatorOf } from '../catalogues.ts';
import type { RenderedPage } from '../renderer.ts';
import { directionOf, LANGUAGE_NAMES, PAGE_LANGUAGES, type PageLanguage } from '../views/languages.ts';
import type { StoreFace } from '../views/payer-page.ts';
import { ACCENT, accentCss } from './accent.ts';
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

/** The style of a store's colour, after that of all pages. */
function accentStyleOf(store: StoreFace | undefined): Style | undefined {
  const accent = store?.brand.accent ?? null;
  return accent === null || !ACCENT.test(accent) ? undefined : styleOf(accentCss(accent));
}

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
  accent?: Style | undefined;
  script: PageScript | undefined;
  reloadSeconds?: number | undefined;
  children: ComponentChildren;
}

function htmlOf({ language, title, style, accent, script, reloadSeconds, children }: DocumentProps): string {
  return documentOf({
    language,
    title,
    css: style.css,
    accentCss: accent?.css,
    head: (
      <>
        <link rel="icon" href="data:," />
        {reloadSeconds === undefined ? null : (
          <noscript>
            <meta http-equiv="refresh" content={String(reloadSeconds)} />
          </noscript>
        )}
      </>
    ),
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
  /** Whose page it is: its colour, and at the foot its terms and where it is reached. */
  store?: StoreFace;
  /** Two columns on a wide screen: what is paid for, and paying. */
  isSplit?: boolean;
  /** Without script the page is loaded again after so long. */
  reloadSeconds?: number;
  script?: PageScript;
}

function Foot({ language, store }: { language: PageLanguage; store: StoreFace | undefined }) {
  const t = translatorOf('shell', language);
  return (
    <footer class="foot">
      {store === undefined ? null : <StoreLinks store={store} language={language} />}
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

function StoreLinks({ store: { storeName, brand }, language }: { store: StoreFace; language: PageLanguage }) {
  const t = translatorOf('shell', language);
  const { support, terms } = brand;
  return (
    <>
      {support === null ? null : (
        <p class="foot-contact">
          {t('contact', { store: storeName })}{' '}
          <a href={support.href} rel="noreferrer">
            <bdi>{support.text}</bdi>
          </a>
        </p>
      )}
      {terms === null ? null : (
        <p>
          <a href={terms} rel="noreferrer" target="_blank">
            {t('terms', { store: storeName })}
          </a>
        </p>
      )}
    </>
  );
}

/** The page may send forms to its own origin, and a script may call that. */
export function renderSheet({
  language,
  title,
  body,
  store,
  isSplit,
  reloadSeconds,
  script,
}: Sheet): RenderedPage {
  const accent = accentStyleOf(store);
  return {
    html: htmlOf({
      language,
      title,
      style: SHEET_STYLE,
      accent,
      script,
      reloadSeconds,
      children: (
        <div class={isSplit ? 'sheet split' : 'sheet'}>
          <main id="page">{body}</main>
          <Foot language={language} store={store} />
        </div>
      ),
    }),
    policy: {
      'style-src': [SHEET_STYLE, ...(accent === undefined ? [] : [accent])]
        .map(({ source }) => source)
        .join(' '),
      // The icon, and the store's logo.
      'img-src': "data: 'self'",
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
