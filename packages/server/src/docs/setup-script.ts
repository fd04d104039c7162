/**
 * Runs in the browser: starts the reference with all third-party requests switched off, and lets the sandbox sign each
 * request right before it is sent.
 */
export const SETUP_SCRIPT = `'use strict';
(() => {
  const { apiKey } = JSON.parse(document.getElementById('settings').textContent);

  const signed = async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = request.method === 'GET' ? '' : await request.clone().text();
    const answer = await fetch('/docs/sign', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ method: request.method, path: pathname + search, body }),
    });
    if (!answer.ok) throw new Error('The sandbox does not sign requests right now (' + answer.status + ').');
    return (await answer.json()).headers;
  };

  const onRequestBuilt = async ({ request }) => {
    for (const [name, value] of Object.entries(await signed(request))) request.headers.set(name, value);
    if (request.method === 'POST' && !request.headers.get('idempotency-key')) {
      request.headers.set('idempotency-key', 'docs-' + crypto.randomUUID());
    }
  };

  Scalar.createApiReference('#reference', {
    url: '/openapi.json',
    servers: [{ url: location.origin }],
    authentication:
      apiKey === null
        ? {}
        : { preferredSecurityScheme: 'apiKey', securitySchemes: { apiKey: { token: apiKey } } },
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: '',
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    hideTestRequestButton: apiKey === null,
    ...(apiKey === null ? {} : { onRequestBuilt }),
  });
})();
`;
