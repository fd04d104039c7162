import { NativeSelect, TextInput } from '@mantine/core';
import { textOf } from './form.ts';
import { FormDialog } from './form-dialog.tsx';

const CHANNELS = [
  { value: 'api', label: 'api: your server calls the API' },
  { value: 'hosted', label: 'hosted: payment links and pages alone' },
];

/** Asks the operator for another store. */
export const NewStore = ({ merchant }: { merchant: string }) => (
  <FormDialog
    label="New store"
    submit="Ask for review"
    isMain
    names={['name', 'channel_type']}
    fields={(errorOf) => (
      <>
        <TextInput
          name="name"
          label="Name, as payers see it"
          error={errorOf('name')}
          autoComplete="off"
          required
          data-autofocus
        />
        <NativeSelect name="channel_type" label="Channel" data={CHANNELS} error={errorOf('channel_type')} />
      </>
    )}
    send={(fields) => ({
      path: `/console/api/merchants/${merchant}/stores`,
      body: { name: textOf(fields, 'name'), channel_type: textOf(fields, 'channel_type') },
    })}
  />
);
