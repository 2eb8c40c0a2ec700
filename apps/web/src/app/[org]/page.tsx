import type { Metadata } from 'next';
import { Home } from '../../features/home/home.tsx';

export const metadata: Metadata = { title: 'New task' };

export default function HomePage() {
  return <Home />;
}
