import type { TestService } from '../service.ts';

/** The text of a form's hidden field. */
export const onceIn = (html: string) => /name="once" value="([^"]+)"/.exec(html)?.[1] ?? '';

/** A browser without script at a link: opens its page and sends its form. */
export function payer(service: TestService, url: string) {
  const open = async (headers: Record<string, string> = {}, query = '') => {
    const answer = await fetch(url + query, { headers });
    return { status: answer.status, headers: answer.headers, html: await answer.text() };
  };
  const send = async (fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams(fields);
    const answer = await fetch(url, { method: 'POST', body, headers, redirect: 'manual' });
    const location = answer.headers.get('location');
    const target = location === null ? undefined : new URL(location, url).href;
    return { status: answer.status, headers: answer.headers, html: await answer.text(), target };
  };
  /** Opens the page and pays what it says, or the amount. @returns where the browser is led */
  const pay = async (amount?: string) => {
    const { html } = await open();
    return await send({ once: onceIn(html), ...(amount === undefined ? {} : { amount }) });
  };
  return { service, open, send, pay };
}
