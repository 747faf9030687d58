"""What the pages share: the frame, the controls, the charts, the furniture of a lesson."""
