import { useEffect } from 'react';

/** Names the tab, from what is shown to what that is part of, as in "pb_1 · Payouts · Florin": screen readers begin with it. */
export function useTitle(...parts: readonly string[]): void {
  const title = [...parts, 'Florin'].join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title]);
}
