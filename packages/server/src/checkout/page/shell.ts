import { createHash } from 'node:crypto';
import {
  directionOf,
  LANGUAGE_NAMES,
  PAGE_LANGUAGES,
  type PageLanguage,
} from '@florin/contract/checkout-page';
import { escapeHtml, type PageAnswer, pageHeaders } from '../../platform/http/index.ts';
import { PAYER_STYLE } from './style.ts';

const STYLE_HASH = createHash('sha256').update(PAYER_STYLE).digest('base64');

/** A page that a payer sees: without script, frames, or a request to anybody else. */
export interface PayerPage {
  status?: number;
  language: PageLanguage;
  title: string;
  /** HTML of the page's `main`, made of the classes in style.ts. */
  body: string;
  /** A script of our own origin; it may ask its own origin. `integrity` as in the attribute of that name. */
  script?: { path: string; integrity: string; data: object };
}

const LANGUAGE_LABELS: Record<PageLanguage, string> = { en: 'Language', es: 'Idioma', ar: 'اللغة' };

/** One `<` is enough to end a script element. */
const json = (data: object) => JSON.stringify(data).replaceAll('<', '\\u003c');

function scriptHtml({ path, integrity, data }: NonNullable<PayerPage['script']>): string {
  return [
    `<script type="application/json" id="data">${json(data)}</script>`,
    `<script type="module" src="${path}" integrity="${integrity}"></script>`,
  ].join('\n');
}

function languageLinks(language: PageLanguage): string {
  return PAGE_LANGUAGES.map((other) => {
    const current = other === language ? ' aria-current="true"' : '';
    const direction = directionOf(other);
    return `<a href="?lang=${other}" lang="${other}" dir="${direction}" hreflang="${other}"${current}>${LANGUAGE_NAMES[other]}</a>`;
  }).join('\n');
}

/**
 * The shell of every page for payers: style, policy, language and its direction. Forms may be sent to our own origin.
 * Links that change the language lead to the same path with `?lang=`.
 */
export function payerPage({ status = 200, language, title, body, script }: PayerPage): PageAnswer {
  const scripts: Record<string, string> =
    script === undefined ? {} : { 'script-src': "'self'", 'connect-src': "'self'" };
  return {
    status,
    type: 'text/html; charset=utf-8',
    headers: {
      ...pageHeaders({
        'style-src': `'sha256-${STYLE_HASH}'`,
        'img-src': 'data:',
        'form-action': "'self'",
        ...scripts,
        // Text that a script takes for HTML is refused by the browser itself.
        'require-trusted-types-for': "'script'",
        'trusted-types': "'none'",
      }),
      'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
      'x-robots-tag': 'noindex',
    },
    body: `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${PAYER_STYLE}</style>
</head>
<body>
<div class="sheet">
<main id="page">${body}</main>
<footer class="foot">
<nav aria-label="${LANGUAGE_LABELS[language]}">
${languageLinks(language)}
</nav>
</footer>
</div>
${script === undefined ? '' : scriptHtml(script)}
</body>
</html>
`,
  };
}

/** The head of a page's card: whose it is. `test`: a line that says that no real money moves. HTML. */
export function storeHead(storeName: string, test?: string): string {
  const [first = ''] = Array.from(storeName.trim());
  const note = test === undefined ? '' : `<p class="test">${escapeHtml(test)}</p>`;
  return `${note}<div class="top"><span class="mark" aria-hidden="true">${escapeHtml(first.toUpperCase())}</span><span class="store">${escapeHtml(storeName)}</span></div>`;
}
