import type { PageRequest, PublicPage } from '../platform/http/pages/index.ts';
import {
  isLocal,
  type PluginFile,
  pageHeaders,
  readPluginFile,
  uncompressed,
} from '../platform/http/pages/index.ts';
import { SETUP_SCRIPT } from './setup-script.ts';
import type { TryOutKey } from './sign.ts';

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
export const REFERENCE_SCRIPT = {
  plugin: '@scalar/fastify-api-reference',
  options: { routePrefix: '/docs', configuration: { url: '/openapi.json' } },
  path: '/docs/js/scalar.js',
};

/** Settings of the page's script. */
interface PageSettings {
  /** The sandbox's API key for callers on this machine, else null. Never the secret. */
  apiKey: string | null;
}

/** The API reference: the page, its script (Scalar, from its package) and the setup script. */
export function referencePages(key: TryOutKey | undefined): PublicPage[] {
  return [
    { path: '/docs/api', handle: async (request) => page({ apiKey: keyFor(request, key) }) },
    {
      path: '/docs/setup.js',
      handle: async () => ({ status: 200, type: SCRIPT_TYPE, headers: pageHeaders({}), body: SETUP_SCRIPT }),
    },
    referenceScript(),
  ];
}

function keyFor(request: PageRequest, key: TryOutKey | undefined): string | null {
  return key !== undefined && isLocal(request) ? key.apiKey : null;
}

function referenceScript(): PublicPage {
  // Read at the first request, so that unused it costs nothing.
  let reading: Promise<PluginFile> | undefined;
  return {
    path: '/docs/reference.js',
    handle: async ({ headers }) => {
      reading ??= readPluginFile(REFERENCE_SCRIPT);
      const file = await reading.catch((error: unknown) => {
        reading = undefined;
        throw error;
      });
      const cached = {
        ...pageHeaders({}),
        'cache-control': 'max-age=3600',
        etag: `"${file.version}"`,
        vary: 'accept-encoding',
      };
      if (headers['if-none-match'] === cached.etag) {
        return { status: 304, type: SCRIPT_TYPE, headers: cached, body: '' };
      }
      return /\bgzip\b/.test(headers['accept-encoding'] ?? '')
        ? {
            status: 200,
            type: SCRIPT_TYPE,
            headers: { ...cached, 'content-encoding': 'gzip' },
            body: file.gzip,
          }
        : { status: 200, type: SCRIPT_TYPE, headers: cached, body: uncompressed(file) };
    },
  };
}

/** Scalar adds inline style sheets; scripts come from our origin only. */
const POLICY = {
  'script-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'font-src': "'self' data:",
  'connect-src': "'self'",
};

function page(settings: PageSettings) {
  return {
    status: 200,
    type: 'text/html; charset=utf-8',
    headers: pageHeaders(POLICY),
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API reference – Florin</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>
<p>This page needs JavaScript. The same is in the <a href="/openapi.json">OpenAPI document</a>; there is also the
<a href="/docs">documentation</a> and a <a href="/llms.txt">short text</a>.</p>
</noscript>
<div id="reference"></div>
<script id="settings" type="application/json">${JSON.stringify(settings).replaceAll('<', '\\u003c')}</script>
<script src="/docs/reference.js"></script>
<script src="/docs/setup.js"></script>
</body>
</html>
`,
  };
}
