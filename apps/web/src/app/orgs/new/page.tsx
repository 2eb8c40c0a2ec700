import type { Metadata } from 'next';
import { NewOrg } from '../../../features/new-org/new-org.tsx';

export const metadata: Metadata = { title: 'Create an organization' };

export default function NewOrgPage() {
  return <NewOrg />;
}
