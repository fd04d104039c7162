import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { PageDue } from '../views/checkout.ts';

const LOOK_EVERY_MS = 1_000;

/** Whether the document shows what the server said: address, amount and code. */
function isWhole(box: HTMLElement | null, due: PageDue): boolean {
  const text = (kind: string) => box?.querySelector(`[data-exact=${kind}]`)?.textContent;
  const code = box?.querySelector('[data-exact=code] path')?.getAttribute('d');
  return (
    box?.isConnected === true &&
    text('address') === due.address &&
    text('amount')?.startsWith(due.amount) === true &&
    code === due.qr.path
  );
}

/**
 * Notices when something else in the browser, most likely an extension, puts another address where ours stands. It
 * cannot stop one that is out to fool the page, but those that swap whatever looks like an address are found.
 */
export function useGuard(due: PageDue, onTampered: () => void): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  const expected = useRef(due);
  expected.current = due;
  // A layout effect is cleaned up before Preact removes the box, other effects only after the next frame: a check in between
  // would find no address and raise the alarm.
  useLayoutEffect(() => {
    const check = () => {
      if (!isWhole(box.current, expected.current)) onTampered();
    };
    const observer = new MutationObserver(check);
    if (box.current !== null) {
      observer.observe(box.current, {
        subtree: true,
        childList: true,
        characterData: true,
        attributes: true,
      });
    }
    const timer = setInterval(check, LOOK_EVERY_MS);
    return () => {
      clearInterval(timer);
      observer.disconnect();
    };
  }, []);
  return box;
}
