import type { PublicPage } from '../packages/server/src/platform/http/pages/index.ts';

export interface Readiness {
  status: string;
  checks: { name: string; status: string; message?: string }[];
}

/** What `/readyz` among these pages answers. Monitoring is told the checks; the public page says the status alone. */
export async function readReadiness(pages: readonly PublicPage[]): Promise<[number, Readiness]> {
  const page = pages.find(({ path }) => path === '/readyz');
  const request = {
    url: '/',
    params: {},
    headers: {},
    repeated: new Set<string>(),
    body: Buffer.alloc(0),
    remoteAddress: '',
  };
  const answer = await page?.handle(request);
  return [answer?.status ?? 0, JSON.parse(String(answer?.body))];
}
