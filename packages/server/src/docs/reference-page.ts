import type { Route } from '../platform/http/index.ts';
import type { PageRequest, PublicPage } from '../platform/http/pages/index.ts';
import {
  isLocal,
  type PluginFile,
  packedAnswer,
  pageHeaders,
  readPluginFile,
} from '../platform/http/pages/index.ts';
import { referenceExamples } from './examples/index.ts';
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

/**
 * The API reference: the page, its script (Scalar, from its package) and what its examples need. The script that starts it is
 * a file of the site.
 */
export function referencePages(routes: readonly Route[], key: TryOutKey | undefined): PublicPage[] {
  return [
    { path: '/docs/api', handle: async (request) => page({ apiKey: keyFor(request, key) }) },
    {
      path: '/docs/examples.json',
      handle: async () => ({
        status: 200,
        type: 'application/json; charset=utf-8',
        headers: pageHeaders({}),
        body: JSON.stringify(referenceExamples(routes)),
      }),
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
    handle: async (request) => {
      reading ??= readPluginFile(REFERENCE_SCRIPT);
      const file = await reading.catch((error: unknown) => {
        reading = undefined;
        throw error;
      });
      return await packedAnswer(request, {
        type: SCRIPT_TYPE,
        version: file.version,
        headers: { ...pageHeaders({}), 'cache-control': 'max-age=3600' },
        read: async () => file.gzip,
      });
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
