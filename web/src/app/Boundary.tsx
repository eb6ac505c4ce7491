import { Component, type ReactNode } from "react";
import { useTranslations } from "use-intl";
import controls from "../parts/ui/controls.module.css";

interface BoundaryProps {
  /** The address. Another one is another screen, which may work. */
  place: string;
  children: ReactNode;
}

/** Shows what is left when a screen breaks. */
export class Boundary extends Component<BoundaryProps, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override componentDidUpdate(before: BoundaryProps) {
    if (this.state.isBroken && before.place !== this.props.place) this.setState({ isBroken: false });
  }

  override render() {
    return this.state.isBroken ? <Broken /> : this.props.children;
  }
}

function Broken() {
  const t = useTranslations("app");
  return (
    <div className={controls.notice} role="alert">
      <p>{t("broken")}</p>
      <button type="button" className={controls.button} onClick={() => location.reload()}>
        {t("retry")}
      </button>
    </div>
  );
}
