import type { WebhookAnswer, WebhookRequest } from './deps.ts';

/** A name that no network has (`.test` is reserved), so nobody's server is meant. */
const HOST = 'webhooks.test';
const STATUS = /^\/([2345]\d\d)$/;

/**
 * What `https://webhooks.test/<status>` answers the events of a sandbox merchant, without any network: whoever has no public
 * server yet sees a delivery acknowledged, refused or retried. Undefined: the request is for somebody else.
 */
export function answerInSandbox({
  url,
  sandbox,
}: Pick<WebhookRequest, 'url' | 'sandbox'>): WebhookAnswer | undefined {
  const { host, pathname } = new URL(url);
  const [, status] = STATUS.exec(pathname) ?? [];
  if (!sandbox || host !== HOST || status === undefined) return undefined;
  return { failure: null, status: Number(status), response: Buffer.from(`The sandbox answers ${status}.`) };
}
