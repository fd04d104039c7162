import { Text } from '@mantine/core';
import { Action } from '../../detail.tsx';
import { CopyId, IsoTime } from '../../format.tsx';
import type { Column } from '../../list.tsx';
import { WholeList } from '../../whole-list.tsx';
import { OPERATOR, useOperates } from './place.ts';

interface FailingJob {
  job_id: string;
  merchant_id: string | null;
  kind: string;
  attempts: number;
  last_error: string;
  due_at: string | null;
}

const SEEN: readonly Column<FailingJob>[] = [
  { title: 'Job', cell: ({ kind }) => kind },
  {
    title: 'Merchant',
    cell: ({ merchant_id }) =>
      merchant_id === null ? 'the installation' : <CopyId id={merchant_id} isShort />,
  },
  { title: 'Failed', cell: ({ attempts }) => attempts, isNumber: true },
  { title: 'Cause', cell: ({ last_error }) => <Text size="sm">{last_error}</Text> },
  { title: 'Runs again', cell: ({ due_at }) => <IsoTime at={due_at} /> },
];

const CHANGED: Column<FailingJob> = {
  title: 'Changes',
  cell: ({ job_id, merchant_id, kind }) => (
    <Action
      label="Run again"
      question={`Run ${kind} now? Nothing is done twice by it: it goes on where it was.`}
      path={`${OPERATOR}/jobs/${job_id}/run`}
      body={{ merchant_id }}
    />
  ),
};

/** Jobs whose last run failed, with the cause. */
export function JobsPage() {
  const operates = useOperates();
  return (
    <WholeList
      title="Failing jobs"
      path={`${OPERATOR}/jobs`}
      idOf={({ job_id }) => job_id}
      cursorOf={({ attempts, job_id }) => `${attempts} ${job_id}`}
      columns={operates ? [...SEEN, CHANGED] : SEEN}
      empty="No job fails. What fails is tried again by itself, less and less often, and is listed here meanwhile."
    />
  );
}
