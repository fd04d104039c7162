import { Button, Group, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useFilters } from './place.ts';

/** Days in UTC, such as `2026-11-01`; both ends are among them. */
interface Period {
  from: string;
  to: string;
}

/** The month that is so many months away from that of a day. */
function monthBy(day: string, months: number): Period {
  const [year = 0, month = 1] = day.split('-').map(Number);
  const dayAt = (ofMonth: number, date: number) =>
    new Date(Date.UTC(year, ofMonth, date)).toISOString().slice(0, 10);
  return { from: dayAt(month - 1 + months, 1), to: dayAt(month + months, 0) };
}

/** The period of the address; the service completes what it does not say. */
export function usePeriod(): { given: Partial<Period>; show: (period: Partial<Period>) => void } {
  const { from, to, ...others } = useFilters();
  const navigate = useNavigate();
  const given = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  return { given, show: (period) => void navigate({ to: '.', search: () => ({ ...others, ...period }) }) };
}

interface PeriodPickerProps {
  /** The one that is shown: what the service made of the address. */
  shown: Period | undefined;
  /** Whose days they are. */
  zone?: string;
}

/** Two days, and the months beside them. */
export function PeriodPicker({ shown, zone = 'UTC' }: PeriodPickerProps) {
  const { given, show } = usePeriod();
  const { from, to } = { ...shown, ...given };
  const field = (name: 'from' | 'to', label: string, value = '') => (
    <TextInput
      key={`${name} ${value}`}
      type="date"
      label={label}
      size="sm"
      defaultValue={value}
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && set(name, currentTarget.value)}
      onBlur={({ currentTarget }) => set(name, currentTarget.value)}
    />
  );
  const set = (name: 'from' | 'to', day: string) => {
    if (day !== '' && day !== (name === 'from' ? from : to))
      show({ ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }), [name]: day });
  };
  return (
    <Group align="end" gap="sm" className="no-print">
      {field('from', `From (${zone})`, from)}
      {field('to', 'To, with that day', to)}
      <Button
        variant="default"
        size="sm"
        disabled={shown === undefined}
        onClick={() => shown && show(monthBy(shown.from, -1))}
      >
        Month before
      </Button>
      <Button
        variant="default"
        size="sm"
        disabled={shown === undefined}
        onClick={() => shown && show(monthBy(shown.from, 1))}
      >
        Month after
      </Button>
    </Group>
  );
}
