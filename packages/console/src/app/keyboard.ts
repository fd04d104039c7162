import { useEffect, useRef } from 'react';

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement &&
  target.closest('input, textarea, select, [contenteditable], [role="dialog"]') !== null;

/** Keys of a page. They are none while somebody types, in a dialog, nor with a modifier, which browsers use themselves. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const newest = useRef(keys);
  newest.current = keys;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const act = newest.current[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
