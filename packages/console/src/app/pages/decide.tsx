import { Action } from '../detail.tsx';
import { useMay, usePlace } from '../place.ts';

interface DecideProps {
  /** Of the resource, below its merchant: `/refunds/re_…` */
  resource: string;
  /** What is paid, in words. */
  sum: string;
}

/** Approves or rejects what waits for it. */
export function Decide({ resource, sum }: DecideProps) {
  const { merchant } = usePlace();
  if (!useMay('approve')) return null;
  const path = `/console/api/merchants/${merchant}${resource}/decision`;
  return (
    <>
      <Action label="Approve" question={`Approve ${sum}?`} path={path} body={{ decision: 'approved' }} />
      <Action
        label="Reject"
        question={`Reject ${sum}? Nobody is paid, and the money is free again.`}
        path={path}
        body={{ decision: 'rejected' }}
        isDangerous
      />
    </>
  );
}
