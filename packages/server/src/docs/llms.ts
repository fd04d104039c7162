import { NAVIGATION, urlOf } from '@florin/site';
import type { Route } from '../platform/http/index.ts';
import type { PublicPage } from '../platform/http/pages/index.ts';

/** `/llms.txt`: one page with everything a code-writing program needs to use the API. */
export function llmsPage(routes: readonly Route[], publicUrl: () => string): PublicPage {
  const calls = routes.map(
    (route) =>
      `- \`${route.method} ${route.path}\` (${route.operationId}, scope ${route.scope}): ${route.summary}`,
  );
  return {
    path: '/llms.txt',
    handle: async () => ({
      status: 200,
      type: 'text/plain; charset=utf-8',
      body: describe(publicUrl(), calls.join('\n')),
    }),
  };
}

const guidesAt = (url: string) =>
  NAVIGATION.flatMap(({ title: section, pages }) =>
    pages.map(({ name, title }) => `- [${section}: ${title}](${url}${urlOf(name)})`),
  ).join('\n');

function describe(url: string, calls: string): string {
  return `# Florin

> An open-source payment service for USDT and USDC on Ethereum, Tron and Solana that its operator runs itself. The API
> speaks JSON over HTTP; every call is signed.

## Documents

- [OpenAPI 3.1 document](${url}/openapi.json): every call, field and answer
- [API reference](${url}/docs/api): the same for people
${guidesAt(url)}

## Signing

Every call under /api/v1 carries these headers:

- \`Authorization: Bearer <API key>\`
- \`X-Service-Timestamp\`: Unix seconds in plain digits, at most 300 s off
- \`X-Service-Nonce\`: 16 to 64 visible ASCII characters, never used before with this key; a UUID is fine
- \`X-Service-Signature\`: HMAC-SHA256 of \`<timestamp>.<nonce>.<raw body>\` with the secret key's text as the key, in
  lower-case hex. Without a body, what is signed ends with the second dot. Sign the bytes that are sent.
- \`Content-Type: application/json\` where there is a body

Calls that create something also take \`Idempotency-Key\`: repeating one with the same key and body is safe.
After a 503 on a write, read first, then repeat with the same key.

## Calls

${calls}
`;
}
