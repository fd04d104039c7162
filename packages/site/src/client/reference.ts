import {
  type ApiAnswer,
  type ApiRequest,
  prepareExample,
  type ReferenceExamples,
} from './prepare-example.ts';

/** Of the reference's own script, which is loaded before this one. */
declare const Scalar: { createApiReference(place: string, settings: object): void };

const API = '/api/v1/';
const TOO_MANY = 429;
/** What the page's form may set. */
const OWN_HEADERS = ['content-type', 'accept', 'idempotency-key', 'x-service-version', 'last-event-id'];

const settings: { apiKey: string | null } = JSON.parse(
  document.getElementById('settings')?.textContent ?? '',
);
const { apiKey } = settings;

/** The sandbox signs: the secret key never comes here. */
async function signed(request: ApiRequest): Promise<Record<string, string>> {
  for (;;) {
    const answer = await fetch('/docs/sign', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    if (answer.ok) {
      const { headers }: { headers: Record<string, string> } = await answer.json();
      return headers;
    }
    if (answer.status !== TOO_MANY)
      throw new Error(`The sandbox does not sign requests right now (${answer.status}).`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

async function call(
  request: ApiRequest,
  given: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  const { method, path, body } = request;
  const headers = {
    authorization: `Bearer ${apiKey}`,
    ...(body === '' ? {} : { 'content-type': 'application/json' }),
    ...(method === 'POST' ? { 'idempotency-key': `docs-${crypto.randomUUID()}` } : {}),
    ...given,
    ...(await signed(request)),
  };
  return await fetch(path, {
    method,
    headers,
    ...(body === '' ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function answerOf(request: ApiRequest): Promise<ApiAnswer> {
  const answer = await call(request);
  return { status: answer.status, text: await answer.text() };
}

let loading: Promise<ReferenceExamples> | undefined;
function examples(): Promise<ReferenceExamples> {
  loading ??= fetch('/docs/examples.json')
    .then((answer) => answer.json())
    .catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
  return loading;
}

/** Sends a request of the page: signed, and with what its example names made before. */
async function send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  const { origin, pathname, search } = new URL(request.url);
  if (origin !== location.origin || !pathname.startsWith(API)) return await fetch(request);
  const { method, headers, signal } = request;
  const asked = { method, path: pathname + search, body: await request.text() };
  const given = OWN_HEADERS.flatMap((name): [string, string][] => {
    const value = headers.get(name);
    return value === null || value === '' ? [] : [[name, value]];
  });
  return await call(
    await prepareExample(asked, await examples(), answerOf),
    Object.fromEntries(given),
    signal,
  );
}

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
  // What the reference would make by itself is not signed.
  hiddenClients: true,
  hideTestRequestButton: apiKey === null,
  ...(apiKey === null ? {} : { customFetch: send }),
});
