/**
 * Runs in the browser: polls the list every second and replaces changed blocks only, so that open details and the keyboard
 * focus stay. The list is HTML escaped by the server.
 */
export const INBOX_SCRIPT = `'use strict';
(() => {
  const inbox = document.getElementById('inbox');
  const status = document.getElementById('status');
  let etag = '';

  const say = (text) => {
    if (status.textContent !== text) status.textContent = text;
  };

  const replace = (before, next) => {
    for (const { id } of before.querySelectorAll('details[open]')) {
      next.querySelector('#' + CSS.escape(id))?.setAttribute('open', '');
    }
    const focused = before.contains(document.activeElement) ? document.activeElement.id : '';
    before.replaceWith(next);
    if (focused !== '') document.getElementById(focused)?.focus();
  };

  const update = (html) => {
    const known = new Map([...inbox.children].map((block) => [block.id, block]));
    const blocks = [...new DOMParser().parseFromString(html, 'text/html').body.children];
    let fresh = 0;
    let place = inbox.firstElementChild;
    for (const next of blocks) {
      const before = known.get(next.id);
      known.delete(next.id);
      let block = before ?? next;
      if (before === undefined && next.className === 'event') fresh++;
      if (before !== undefined && before.dataset.version !== next.dataset.version) {
        if (place === before) place = next;
        replace(before, next);
        block = next;
      }
      if (place === block) place = place.nextElementSibling;
      else inbox.insertBefore(block, place);
    }
    for (const block of known.values()) block.remove();
    return fresh;
  };

  const poll = async () => {
    if (document.hidden) return;
    try {
      const answer = await fetch('/sandbox/webhooks/list', { headers: etag === '' ? {} : { 'if-none-match': etag } });
      if (answer.status === 304) return say(status.textContent.startsWith('The sandbox') ? 'Live.' : status.textContent);
      if (!answer.ok) throw new Error(String(answer.status));
      const fresh = update(await answer.text());
      const isFirst = etag === '';
      etag = answer.headers.get('etag') ?? '';
      const time = new Date().toLocaleTimeString();
      if (isFirst) say('Live: updated every second.');
      else say(fresh === 0 ? 'Live. Changed at ' + time + '.' : 'Live. ' + fresh + ' new at ' + time + '.');
    } catch {
      say('The sandbox does not answer; trying again.');
    }
  };

  const pollForever = async () => {
    await poll();
    setTimeout(pollForever, 1000);
  };
  void pollForever();
})();
`;
