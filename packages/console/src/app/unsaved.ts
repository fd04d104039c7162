import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

const TYPED = 'Leave this? What you typed is not saved.';

/** Whether something may be left: where it would be lost, the person is asked. */
export const mayLeave = (isUnsaved: boolean, question = TYPED): boolean => !isUnsaved || confirm(question);

/** Asks before a page is left on which something would be lost: by a link, by going back, or by closing the tab. */
export function useUnsaved(isUnsaved: () => boolean, question?: string): void {
  const { history } = useRouter();
  const newest = useRef(isUnsaved);
  newest.current = isUnsaved;
  useEffect(
    () =>
      history.block({
        blockerFn: () => !mayLeave(newest.current(), question),
        enableBeforeUnload: () => newest.current(),
      }),
    [history, question],
  );
}
