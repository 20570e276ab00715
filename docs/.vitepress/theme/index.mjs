// Without the web font: no request leaves the page, and the fonts of the system are good enough.
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';

export default DefaultTheme;
