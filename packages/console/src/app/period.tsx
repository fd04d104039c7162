import { Button, Group, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
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

interface DayFieldProps {
  label: string;
  day: string | undefined;
  set: (day: string) => void;
}

/** A date field that applies on Enter and on blur. A new value from the service does not overwrite a focused field. */
function DayField({ label, day = '', set }: DayFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current !== null && input.current !== document.activeElement) input.current.value = day;
  }, [day]);
  const take = ({ value }: HTMLInputElement) => value !== '' && value !== day && set(value);
  return (
    <TextInput
      ref={input}
      type="date"
      label={label}
      size="sm"
      defaultValue={day}
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && take(currentTarget)}
      onBlur={({ currentTarget }) => take(currentTarget)}
    />
  );
}

/** Two days, and the months beside them. */
export function PeriodPicker({ shown, zone = 'UTC' }: PeriodPickerProps) {
  const { given, show } = usePeriod();
  const { from, to } = { ...shown, ...given };
  const setFrom = (day: string) => show(to === undefined || day > to ? { from: day } : { from: day, to });
  const setTo = (day: string) =>
    show({ from: from === undefined || day < from ? monthBy(day, 0).from : from, to: day });
  return (
    <Group align="end" gap="sm" className="no-print">
      <DayField label={`From (${zone})`} day={from} set={setFrom} />
      <DayField label="To, with that day" day={to} set={setTo} />
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
