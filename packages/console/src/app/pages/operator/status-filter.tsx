import { NativeSelect } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { wordsOf } from '../../format.tsx';
import { useFilters } from '../../place.ts';

/** Shows rows of one status; it stands in the address. */
export function StatusFilter({ options }: { options: readonly string[] }) {
  const { status = '' } = useFilters();
  const navigate = useNavigate();
  return (
    <NativeSelect
      aria-label="Status"
      size="sm"
      value={status}
      onChange={({ currentTarget: { value } }) =>
        void navigate({ to: '.', search: () => (value === '' ? {} : { status: value }) })
      }
      data={[
        { value: '', label: 'all statuses' },
        ...options.map((value) => ({ value, label: wordsOf(value) })),
      ]}
    />
  );
}
